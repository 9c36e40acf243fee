import { sql } from 'kysely';
import type { IdValue } from '../core/id.js';
import type { Dialect, Fragment } from '../dialect/dialect.js';
import type { ListStatement } from './acquire-statements.js';
import { holderColumns, type LeaseNames } from './lease-columns.js';
import type { LeaseStatements } from './lease-statements.js';
import { type Database, type Statement, statement } from './statement.js';
import { listStatements, type TaskKeyNames, taskKeys } from './task-keys.js';

/**
 * How the holder of a task is found by an id that the caller gives: by the id as the row of the task spells it, else, for
 * a task that is not there and for a lease of version 0.1.0, by the one given.
 */
export interface SoughtStatements {
  /** Reads the id of a task as its row spells it. */
  readonly spelling: Statement<{ taskId: IdValue }>;
  /** Reads the holders of one task: the first that is there counts. */
  readonly holder: Statement<{ taskId: IdValue }>;
  /** The same in a caller's transaction. */
  readonly latestHolder: Statement<{ taskId: IdValue }>;
  /** Reads the holders of a list, with the `position` in it where the holder may spell the id in another way. */
  readonly holders: ListStatement;
  /** The same in a caller's transaction. */
  readonly latestHolders: ListStatement;
}

/** The statements that find a holder. */
export function soughtStatements(
  database: Database,
  dialect: Dialect,
  names: LeaseNames & TaskKeyNames,
  leases: LeaseStatements,
): SoughtStatements {
  const { lease, taskIdType } = names;
  const { tasks, keyOf, meets, ownOf } = taskKeys(dialect, names);
  const task = sql`task`;
  const own = (id: Fragment): Fragment => sql`from ${tasks} as task where ${meets(task, id)}`;
  const spelling: SoughtStatements['spelling'] = statement(
    database,
    (p) => sql`select ${keyOf(task)} as own_id ${own(p.taskId)}`,
  );
  if (taskIdType !== 'text') {
    // A number has one spelling.
    return {
      spelling,
      holder: leases.readHolder,
      latestHolder: leases.readLatestHolder,
      holders: (ids) => leases.readHolders({ list: dialect.list(ids) }),
      latestHolders: (ids) => leases.readLatestHolders({ list: dialect.list(ids) }),
    };
  }
  const given = sql.id('given', 'task_id');
  const holder = holderColumns(dialect, names);
  // An outer join, so that no lease but those that are sought is read, nor locked.
  const of = (sought: Fragment): Fragment =>
    sql`(${sought}) as sought left join ${lease} on ${lease}.task_id = sought.own_id`;

  const one = (lock: Fragment): SoughtStatements['holder'] =>
    statement(database, (p) => {
      const spelled = sql`select ${keyOf(task)} as own_id, 0 as place ${own(p.taskId)}`;
      const asked = sql`select ${dialect.keyOf(taskIdType, p.taskId)}, 1`;
      return sql`select ${holder} from ${of(sql`${spelled} union all ${asked}`)} order by sought.place ${lock}`;
    });
  const lists = listStatements(database, dialect, taskIdType);
  const many = (lock: Fragment): ListStatement => {
    const read = lists<{ list: string }>((p, ids) => {
      const spelled = sql`select found.position, found.own_id, 0 as place from (${ownOf(ids, sql``)}) as found`;
      const asked = sql`select given.position, ${dialect.keyOf(taskIdType, given)}, 1
        from ${dialect.records(p.list, { task_id: taskIdType })}`;
      return sql`select sought.position, ${holder} from ${of(sql`${spelled} union all ${asked}`)} order by sought.place ${dialect.allRows} ${lock}`;
    });
    return (ids) => read(ids, { list: JSON.stringify(ids.map((id) => ({ task_id: id }))) });
  };
  return {
    spelling,
    holder: one(sql``),
    latestHolder: one(dialect.latest),
    holders: many(sql``),
    latestHolders: many(dialect.latest),
  };
}
