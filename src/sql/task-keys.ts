import { sql } from 'kysely';
import type { IdType, IdValue } from '../core/id.js';
import type { Dialect, Fragment } from '../dialect/dialect.js';
import type { CallersTable } from './callers-table.js';
import { type Database, type Slots, type Statement, statement } from './statement.js';

/** How the caller's tasks are called, and the type of their ids. */
export interface TaskKeyNames {
  readonly tasks: CallersTable;
  readonly id: string;
  readonly stage: string;
  readonly taskIdType: IdType;
}

/** The parts of statements that look at the caller's tasks beside the lease table, under an alias. */
export function taskKeys(dialect: Dialect, { tasks, id, stage, taskIdType }: TaskKeyNames) {
  const [idColumn, stageColumn] = [tasks.column(id), tasks.column(stage)];
  const idOf = (alias: Fragment): Fragment => sql`${alias}.${idColumn}`;
  /** The key of the lease of a task: the spelling of its row. */
  const keyOf = (alias: Fragment): Fragment => dialect.keyOf(taskIdType, idOf(alias));
  const stageOf = (alias: Fragment): Fragment => sql`${alias}.${stageColumn}`;
  const readStage = (alias: Fragment): Fragment => dialect.readId('text', stageOf(alias));
  const listed = (alias: Fragment, ids: readonly Fragment[]) => dialect.listed(taskIdType, idOf(alias), ids);
  const task = sql`task`;
  const own = sql`${keyOf(task)} as own_id, ${readStage(task)} as own_stage`;
  return {
    tasks: tasks.table,
    keyOf,
    stageOf,
    readStage,
    listed,
    own,
    /** The row of a task: found by the equality of its own column. */
    meets: (alias: Fragment, given: Fragment): Fragment<boolean> => dialect.meetsId(taskIdType, idOf(alias), given),
    /** The tasks of a list, each at its `position`. */
    ownOf: (ids: readonly Fragment[], lock: Fragment): Fragment => {
      const { from, condition, position } = listed(task, ids);
      return sql`select ${position} as position, ${own} from ${tasks.table} as task${from} where ${condition} ${lock}`;
    },
  };
}

/** Makes statements on lists of ids, each compiled once for a number of parameters. */
export function listStatements(database: Database, dialect: Dialect, idType: IdType) {
  return <P extends object>(build: (p: Slots<P>, ids: readonly Fragment[]) => Fragment) => {
    const compiled = new Map<number, Statement<P>>();
    return (ids: readonly IdValue[], more: P): ReturnType<Statement<P>> => {
      const parameters = dialect.listParameters(idType, ids);
      const found =
        compiled.get(parameters.length) ??
        statement<P>(database, (p) =>
          build(
            p,
            Array.from(parameters, (_, at) => place(p, `id${at}`)),
          ),
        );
      compiled.set(parameters.length, found);
      return found({ ...Object.fromEntries(parameters.map((value, at) => [`id${at}`, value])), ...more });
    };
  };
}

/** The place of a parameter whose name is made. */
function place(slots: object, name: string): Fragment {
  return (slots as Readonly<Record<string, Fragment>>)[name] ?? sql``;
}
