import { sql } from 'kysely';
import type { IdValue } from '../core/id.js';
import type { ProcessIdentity } from '../core/process.js';
import type { Dialect, Fragment, FreeInsert } from '../dialect/dialect.js';
import { clockOf, GRANTED, holderColumns, INSERTED, type LeaseNames, recordFields, timesOf } from './lease-columns.js';
import type { InsertLease } from './lease-records.js';
import { andCommitting, committing, type Database, type Statement, statement } from './statement.js';

/** Acquisitions, each by its token and by its claim: two lists for the dialect's {@link Dialect.among}. */
export interface Claims {
  readonly tokens: unknown;
  readonly claims: unknown;
}

const id = (name: string): Fragment => sql.id(name);
const task = id('task_id');
const claim = id('claim');
const token = id('fencing_token');

/** The condition that the row of an acquisition is still there, locked so that it cannot go before we commit. */
export function fence(
  dialect: Dialect,
  lease: Fragment,
  taskId: Fragment,
  ownClaim: Fragment,
  column = id,
): Fragment<boolean> {
  const own = sql`${column('task_id')} = ${taskId} and ${column('claim')} = ${ownClaim}`;
  return sql<boolean>`exists (select 1 from ${lease} where ${own} ${dialect.shareLock})`;
}

/** The condition that no one holds the task. */
export function nobodyHolds(lease: Fragment, taskId: Fragment): Fragment<boolean> {
  return sql<boolean>`not exists (select 1 from ${lease} where ${task} = ${taskId})`;
}

/** The clock, read only where a condition holds. */
function clockWhere(now: Fragment<number>, condition: Fragment<boolean> | undefined): Fragment<number> {
  return condition === undefined ? now : sql<number>`case when ${condition} then ${now} end`;
}

/** Every statement on the lease table, compiled once for an ownership. */
export function leaseStatements(database: Database, dialect: Dialect, names: LeaseNames) {
  const { lease, taskIdType } = names;
  const now = dialect.nowMs;
  const [condition, commits] = [committing(dialect), andCommitting(dialect)];
  const returning = (columns: Fragment): Fragment => (dialect.returning ? sql`returning ${columns}` : sql``);
  const renewed = dialect.least(sql<number>`${now} + ttl_ms`, sql<number>`deadline_ms`);
  const holder = holderColumns(dialect, names);
  const insertFree = (rows: Pick<FreeInsert, 'rows' | 'order' | 'values'>, taskId: Fragment): Fragment => {
    const key = [{ column: task, value: taskId }] as const;
    const insert = { table: lease, columns: INSERTED, key, mayRepeat: true, ...rows, ...(condition && { condition }) };
    return sql`${dialect.insertFree(insert)} ${returning(GRANTED)}`;
  };
  const holderOf = (lock: Fragment): Statement<{ taskId: IdValue }> =>
    statement(database, (p) => sql`select ${holder} from ${lease} where ${task} = ${p.taskId} ${lock}`);
  const holdersOf = (lock: Fragment): Statement<{ list: unknown }> =>
    statement(database, (p) => {
      const listed = dialect.among(task, taskIdType, p.list);
      return sql`select ${holder} from ${lease} where ${listed} ${dialect.allRows} ${lock}`;
    });
  const deleteUnlocked = (which: Fragment): Fragment => {
    const condition = sql<boolean>`${which}${commits}`;
    return dialect.deleteUnlocked({ table: lease, key: token, condition, returning: returning(sql`fencing_token`) });
  };
  return {
    /** Takes a free task, without a look at it; passes over a held one in silence. */
    insert: statement<InsertLease>(database, (p) => {
      const given = sql`${p.claim}, ${p.taskId}, ${p.actor}, ${p.pid}, ${p.bootId}, ${p.host}, ${p.start}, ${p.runId},
        ${p.stage}, ${p.ttlMs}`;
      const rows = sql`select ${given}, ${timesOf(dialect, p.ttlMs, p.maxHoldMs)} from ${clockOf(dialect)}`;
      // A value may be that of a column before it: the clock is read once.
      const at = sql<number>`acquired_ms`;
      const times = sql`${clockWhere(now, condition)}, ${at} + ${dialect.least(p.ttlMs, p.maxHoldMs)}, ${at} + ${p.maxHoldMs}`;
      return insertFree({ rows, values: sql`${given}, ${times}` }, p.taskId);
    }),
    /** Takes many free tasks for one process, without a look at them, in the order of the list. */
    insertMany: statement<ProcessIdentity & { list: string }>(database, (p) =>
      insertFree(
        {
          rows: sql`select given.claim, given.task_id, given.owner, ${p.pid}, ${p.bootId}, ${p.host}, ${p.start},
            given.run_id, given.stage, given.ttl_ms, ${timesOf(dialect, sql`given.ttl_ms`, sql`given.max_hold_ms`)}
            from ${clockOf(dialect)}, ${dialect.records(p.list, recordFields(names))}`,
          order: sql`order by given.position`,
        },
        sql`given.task_id`,
      ),
    ),
    /** Reads the holder of one task, as its row spells its id, with the clock of the database. */
    readHolder: holderOf(sql``),
    /** The same in a caller's transaction. */
    readLatestHolder: holderOf(dialect.latest),
    /** Reads the holders of the tasks of a list. */
    readHolders: holdersOf(sql``),
    /** The same in a caller's transaction. */
    readLatestHolders: holdersOf(dialect.latest),
    /** Reads the holders after a token: in all a handful of rows, one for each transition that is under way. */
    readPage: statement<{ after: unknown; limit: number }>(
      database,
      (p) =>
        sql`select ${holder} from ${lease} where fencing_token > ${p.after} order by fencing_token limit ${p.limit}`,
    ),
    /** Moves the expiry of the claims of a list, passing over rows that another session has locked. */
    renew: statement<Claims>(
      database,
      (p) =>
        sql`${dialect.updateUnlocked({
          table: lease,
          assignments: sql`expires_ms = ${renewed}`,
          key: id('fencing_token'),
          keys: p.tokens,
          condition: sql<boolean>`${dialect.among(claim, 'text', p.claims)}${commits}`,
        })} ${returning(sql`${claim}, expires_ms, ${now} as now_ms`)}`,
    ),
    /**
     * Lowers an expiry that lies more than two TTLs ahead, since the clock of the database was set back: exactly the
     * acquisition and the expiry that were seen, passing over a row that another session has locked.
     */
    lowerExpiry: statement<Claims & { expiry: unknown }>(
      database,
      (p) =>
        sql`${dialect.updateUnlocked({
          table: lease,
          assignments: sql`expires_ms = ${renewed}`,
          key: id('fencing_token'),
          keys: p.tokens,
          condition: sql<boolean>`${dialect.among(claim, 'text', p.claims)} and expires_ms = ${p.expiry}
            and expires_ms > ${now} + 2 * ttl_ms${commits}`,
        })}`,
    ),
    /** Moves the bound of a hold that is not over, counted from its beginning; renews as well. */
    extend: statement<{ taskId: IdValue; claim: string; maxHoldMs: number }>(database, (p) => {
      const deadline = sql<number>`acquired_ms + ${p.maxHoldMs}`;
      const expiry = dialect.least(sql<number>`${now} + ttl_ms`, deadline);
      return sql`update ${lease} set deadline_ms = ${deadline}, expires_ms = ${expiry}
        where ${task} = ${p.taskId} and ${claim} = ${p.claim} and deadline_ms > ${now}${commits}
        ${returning(sql`expires_ms, deadline_ms`)}`;
    }),
    /** Reads the rows of the tokens of a list; how a renewal learns its result where UPDATE returns no rows. */
    readTokens: statement<Pick<Claims, 'tokens'>>(
      database,
      (p) => sql`select ${claim}, acquired_ms, expires_ms, deadline_ms, ${now} as now_ms from ${lease}
        where ${dialect.among(id('fencing_token'), 'integer', p.tokens)} ${dialect.allRows}`,
    ),
    /** Writes no row: a write of whatever kind fails in a transaction that sees an old state. */
    touch: statement<object>(database, () => sql`update ${lease} set owner = owner where fencing_token = 0`),
    /** Reads the expiry of a lease in a caller's transaction, and locks its row against deletion. */
    confirm: statement<{ taskId: IdValue; claim: string }>(
      database,
      (p) => sql`select expires_ms, ${now} as now_ms from ${lease} where ${task} = ${p.taskId} and ${claim} = ${p.claim}
        ${dialect.shareLock}`,
    ),
    /** Gives a lease back: exactly this acquisition. */
    release: statement<{ taskId: IdValue; claim: string }>(
      database,
      (p) =>
        sql`delete from ${lease} where ${task} = ${p.taskId} and ${claim} = ${p.claim}${commits}
          ${returning(sql`fencing_token`)}`,
    ),
    /** The same where nobody knows how the row of the task spells its id, over a handful of rows. */
    discard: statement<{ claim: string }>(
      database,
      (p) => sql`delete from ${lease} where ${claim} = ${p.claim}${commits}`,
    ),
    /** Gives the claims of a list back: found by the primary key, told by what identifies an acquisition. */
    releaseMany: statement<Claims>(
      database,
      (p) => sql`delete from ${lease} where ${dialect.among(id('fencing_token'), 'integer', p.tokens)}
        and ${dialect.among(claim, 'text', p.claims)}${commits} ${returning(claim)}`,
    ),
    /**
     * Deletes exactly the acquisition that was judged: a renewal that landed in between wins, and so does whoever has the
     * row locked.
     */
    reclaim: statement<{ taskId: IdValue; claim: string; expiry: unknown }>(database, (p) =>
      deleteUnlocked(sql`${task} = ${p.taskId} and ${claim} = ${p.claim} and expires_ms = ${p.expiry}`),
    ),
    /** Reads an acquisition if nobody has its row locked. */
    findUnlocked: statement<{ taskId: IdValue; claim: string }>(
      database,
      (p) => sql`select ${token} from ${lease} where ${task} = ${p.taskId} and ${claim} = ${p.claim}
        ${dialect.lockFreeRows}`,
    ),
    /** Deletes an acquisition of another's, at an operator's order, unless somebody has its row locked. */
    takeAway: statement<{ taskId: IdValue; claim: string }>(database, (p) =>
      deleteUnlocked(sql`${task} = ${p.taskId} and ${claim} = ${p.claim}`),
    ),
  };
}

/** The statements on the lease table. */
export type LeaseStatements = ReturnType<typeof leaseStatements>;
