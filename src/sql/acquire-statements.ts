import { sql } from 'kysely';
import type { IdValue } from '../core/id.js';
import type { ProcessIdentity } from '../core/process.js';
import type { Dialect, Fragment, FreeInsert } from '../dialect/dialect.js';
import { clockOf, GRANTED, holderColumns, INSERTED, type LeaseNames, recordFields, timesOf } from './lease-columns.js';
import { type InsertLease, type InsertRecord, insertRecords } from './lease-records.js';
import type { LeaseStatements } from './lease-statements.js';
import { type Database, type Slots, type Statement, statement } from './statement.js';
import { listStatements, type TaskKeyNames, taskKeys } from './task-keys.js';

/** A statement on a list of ids. */
export type ListStatement = (ids: readonly IdValue[]) => ReturnType<Statement<object>>;

/** The statements that look at a task and at its lease together: a lease has the key that the row of its task spells. */
export interface AcquireStatements {
  /** Takes a free task that is there, in the stage of the request if that names one. */
  readonly take: Statement<InsertLease>;
  /** The same for many tasks and one process, in the order of the list. */
  readonly takeMany: (rows: readonly InsertRecord[], process: ProcessIdentity) => ReturnType<Statement<object>>;
  /** Reads a task and its holder. */
  readonly find: Statement<{ taskId: IdValue }>;
  /** The same in a caller's transaction, as of the latest commit of the lease table alone. */
  readonly findLatestHolder: Statement<{ taskId: IdValue }>;
  /** The same after a write of ours, as of the latest commit of both. */
  readonly findLatest: Statement<{ taskId: IdValue }>;
  /** Reads the tasks of a list and their holders, with the `position` in the list. */
  readonly findMany: ListStatement;
  /** The same in a caller's transaction. */
  readonly findManyLatestHolders: ListStatement;
  /** The same after a write of ours. */
  readonly findManyLatest: ListStatement;
}

/** Every statement that looks at tasks and their leases. */
export function acquireStatements(
  database: Database,
  dialect: Dialect,
  names: LeaseNames & TaskKeyNames,
  leases: LeaseStatements,
): AcquireStatements {
  const { lease, taskIdType } = names;
  const { tasks, keyOf, stageOf, readStage, meets, listed, own, ownOf } = taskKeys(dialect, names);
  const [task, again, none] = [sql`task`, sql`again`, sql``];
  /** What an insert gives: what it wrote down of the task. */
  const granted = sql`${GRANTED}, ${dialect.readId(taskIdType, sql`task_id`)} as task_id, stage`;
  const insertFree = (rows: Pick<FreeInsert, 'rows' | 'condition' | 'order'>, key: Fragment): Fragment =>
    sql`${dialect.insertFree({
      table: lease,
      columns: INSERTED,
      key: [{ column: sql`task_id`, value: key }],
      mayRepeat: true,
      ...rows,
    })} returning ${granted}`;
  const values = (p: Slots<ProcessIdentity>) => sql`${p.pid}, ${p.bootId}, ${p.host}, ${p.start}`;
  const look = dialect.secondLook;
  const seen = look?.pair(keyOf(again), readStage(again));

  const take = (anyStage: boolean): Statement<InsertLease> =>
    statement(database, (p) => {
      const stage = anyStage ? readStage(task) : sql`${p.stage}`;
      const rows = sql`select ${p.claim}, ${keyOf(task)}, ${p.actor}, ${values(p)}, ${p.runId}, ${stage}, ${p.ttlMs},
        ${timesOf(dialect, p.ttlMs, p.maxHoldMs)} from ${clockOf(dialect)}, ${tasks} as task`;
      const met = meets(task, p.taskId);
      const condition = anyStage ? met : sql<boolean>`${met} and ${dialect.sameText(stageOf(task), p.stage)}`;
      const inserted = insertFree({ rows, condition }, keyOf(task));
      if (look === undefined) return inserted;
      // Correlated with the inserted row, so that it is read when that is there.
      return sql`${inserted}, (select ${seen} from ${tasks} as again where ${meets(again, p.taskId)}
        and ${lease}.claim is not null limit 1 ${look.lock}) as seen`;
    });

  const lists = listStatements(database, dialect, taskIdType);
  const takeMany = lists<ProcessIdentity & { list: string }>((p, ids) => {
    const stage = sql`case when given.any_stage = 1 then found.own_stage else given.stage end`;
    const inserted = insertFree(
      {
        rows: sql`select given.claim, found.own_id, given.owner, ${values(p)}, given.run_id, ${stage}, given.ttl_ms,
          ${timesOf(dialect, sql`given.ttl_ms`, sql`given.max_hold_ms`)} from ${clockOf(dialect)},
          ${dialect.records(p.list, recordFields(names))}, (${ownOf(ids, none)}) as found`,
        condition: sql<boolean>`given.position = found.position
          and (given.any_stage = 1 or ${dialect.sameText(sql`found.own_stage`, sql`given.stage`)})`,
        order: sql`order by given.position`,
      },
      sql`found.own_id`,
    );
    if (look === undefined) return inserted;
    // The rows are looked at when all that were inserted are known.
    return sql`with inserted as (${inserted}, task_id as own_id), seen as (select ${keyOf(again)} as own_id, ${seen} as seen
      from ${tasks} as again where ${listed(again, ids).condition}
      and ${keyOf(again)} in (select own_id from inserted) ${look.lock})
      select inserted.*, seen.seen from inserted left join seen on seen.own_id = inserted.own_id`;
  });

  const holder = holderColumns(dialect, names);
  const withHolder = (found: Fragment, position: Fragment, lock: Fragment): Fragment =>
    sql`select ${dialect.readId(taskIdType, sql`found.own_id`)} as own_id, found.own_stage${position}, ${holder}
      from (${found}) as found left join ${lease} on ${lease}.task_id = found.own_id ${lock}`;
  const find = (lockTask: Fragment, lockLease: Fragment): AcquireStatements['find'] =>
    statement(database, (p) =>
      withHolder(sql`select ${own} from ${tasks} as task where ${meets(task, p.taskId)} ${lockTask}`, none, lockLease),
    );
  const findMany = (lockTask: Fragment, lockLease: Fragment): ListStatement => {
    const found = lists((_, ids) =>
      withHolder(ownOf(ids, lockTask), sql`, found.position`, sql`${dialect.allRows} ${lockLease}`),
    );
    return (ids) => found(ids, {});
  };
  const [takeInAny, takeInStage] = [take(true), take(false)];
  return {
    take: (row) => (dialect.returning ? (row.anyStage ? takeInAny : takeInStage)(row) : leases.insert(row)),
    takeMany: (rows, process) => {
      const given = { list: insertRecords(rows), ...process };
      const ids = rows.map(({ taskId }) => taskId);
      return dialect.returning ? takeMany(ids, given) : leases.insertMany(given);
    },
    find: find(none, none),
    findLatestHolder: find(none, dialect.latest),
    findLatest: find(dialect.latest, dialect.latest),
    findMany: findMany(none, none),
    findManyLatestHolders: findMany(none, dialect.latest),
    findManyLatest: findMany(dialect.latest, dialect.latest),
  };
}
