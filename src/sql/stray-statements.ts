import { sql } from 'kysely';
import type { Dialect, Fragment } from '../dialect/dialect.js';
import { type Database, statement } from './statement.js';
import { type TaskKeyNames, taskKeys } from './task-keys.js';

/** The statement that lists the tasks of a table of ours that no row of the caller's tasks has. */
export function strayStatement(database: Database, dialect: Dialect, names: TaskKeyNames, table: Fragment) {
  const { tasks, keyOf } = taskKeys(dialect, names);
  const task = sql`task`;
  const own = sql`own.task_id`;
  // Text is compared byte by byte, which no index of the caller serves: all keys are read once.
  const isStray =
    names.taskIdType === 'text'
      ? sql`${own} not in (select ${keyOf(task)} from ${tasks} as task where task.${names.tasks.column(names.id)} is not null)`
      : sql`not exists (select 1 from ${tasks} as task where ${keyOf(task)} = ${own})`;
  return statement<{ limit: number }>(
    database,
    (p) => sql`select distinct ${dialect.readId(names.taskIdType, own)} as task_id from ${table} as own
      where ${isStray} order by 1 limit ${p.limit}`,
  );
}
