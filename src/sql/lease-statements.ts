import { sql } from 'kysely';
import type { IdType, IdValue } from '../core/id.js';
import type { Dialect, Fragment } from '../dialect/dialect.js';
import { type Database, statement } from './statement.js';

/** What an acquisition writes. */
export interface InsertLease {
  readonly claim: string;
  readonly taskId: IdValue;
  readonly actor: string;
  readonly pid: number;
  readonly bootId: string;
  readonly host: string;
  readonly start: string | null;
  readonly runId: IdValue | null;
  readonly stage: string | null;
  readonly ttlMs: number;
  readonly maxHoldMs: number;
}

/** The names that the statements need. */
export interface LeaseNames {
  readonly lease: Fragment;
  readonly taskIdType: IdType;
  readonly runIdType: IdType;
}

const id = (name: string): Fragment => sql.id(name);
const task = id('task_id');
const claim = id('claim');

/** The columns that an acquisition writes, in the order of its values. */
const INSERTED = sql.join(
  [
    'claim',
    'task_id',
    'owner',
    'owner_pid',
    'owner_boot_id',
    'owner_host',
    'owner_start',
    'run_id',
    'stage',
    'ttl_ms',
    'acquired_ms',
    'expires_ms',
    'deadline_ms',
  ].map((name) => id(name)),
);

/** The condition that the row of an acquisition is still there, locked so that it cannot go before we commit. */
export function fence(dialect: Dialect, lease: Fragment, taskId: Fragment, ownClaim: Fragment): Fragment<boolean> {
  return sql<boolean>`exists (select 1 from ${lease} where ${task} = ${taskId} and ${claim} = ${ownClaim} ${dialect.shareLock})`;
}

/** The condition that nobody holds the task. */
export function nobodyHolds(lease: Fragment, taskId: Fragment): Fragment<boolean> {
  return sql<boolean>`not exists (select 1 from ${lease} where ${task} = ${taskId})`;
}

/** Every statement on the lease table, compiled once for an ownership. */
export function leaseStatements(database: Database, dialect: Dialect, names: LeaseNames) {
  const { lease, taskIdType, runIdType } = names;
  const now = dialect.nowMs;
  const returning = (columns: Fragment): Fragment => (dialect.returning ? sql`returning ${columns}` : sql``);
  const renewed = dialect.least(sql<number>`${now} + ttl_ms`, sql<number>`coalesce(deadline_ms, ${now} + ttl_ms)`);
  const holder = sql`fencing_token, ${claim}, ${dialect.readId(taskIdType, task)} as task_id, owner, owner_pid,
    owner_boot_id, owner_host, owner_start, ${dialect.readId(runIdType, id('run_id'))} as run_id, stage,
    acquired_ms, expires_ms, ttl_ms, deadline_ms, ${now} as now_ms`;
  const granted = sql`fencing_token, ${claim}, acquired_ms, expires_ms, deadline_ms`;
  return {
    /** Takes a free task; passes over a held one in silence. */
    insert: statement<InsertLease>(
      database,
      (p) => sql`insert into ${lease} (${INSERTED}) values (${p.claim}, ${p.taskId}, ${p.actor}, ${p.pid}, ${p.bootId},
        ${p.host}, ${p.start}, ${p.runId}, ${p.stage}, ${p.ttlMs},
        ${now}, ${now} + ${dialect.least(p.ttlMs, p.maxHoldMs)}, ${now} + ${p.maxHoldMs})
        ${dialect.orIgnore(task)} ${returning(granted)}`,
    ),
    /** Takes many free tasks, in the order of the list. */
    insertMany: statement<{ list: string }>(
      database,
      (p) => sql`insert into ${lease} (${INSERTED}) select given.claim, given.task_id, given.owner, given.owner_pid,
        given.owner_boot_id, given.owner_host, given.owner_start, given.run_id, given.stage, given.ttl_ms, ${now},
        ${now} + ${dialect.least(sql`given.ttl_ms`, sql`given.max_hold_ms`)}, ${now} + given.max_hold_ms
        from ${dialect.records(p.list, {
          claim: 'text',
          task_id: taskIdType,
          owner: 'text',
          owner_pid: 'integer',
          owner_boot_id: 'text',
          owner_host: 'text',
          owner_start: 'text',
          run_id: runIdType,
          stage: 'text',
          ttl_ms: 'integer',
          max_hold_ms: 'integer',
        })} where 1 = 1 order by given.position ${dialect.orIgnore(task)} ${returning(granted)}`,
    ),
    /** Reads the holder of one task, with the clock of the database. */
    readHolder: statement<{ taskId: IdValue }>(
      database,
      (p) => sql`select ${holder} from ${lease} where ${task} = ${p.taskId} ${dialect.latest}`,
    ),
    /** Reads the holders of the tasks of a list. */
    readHolders: statement<{ list: unknown }>(
      database,
      (p) =>
        sql`select ${holder} from ${lease} where ${dialect.among(task, taskIdType, p.list)} order by fencing_token`,
    ),
    /** Reads all holders: a handful of rows, one for each transition that is under way. */
    readAll: statement<{ limit: number }>(
      database,
      (p) => sql`select ${holder} from ${lease} order by fencing_token limit ${p.limit}`,
    ),
    /** Moves the expiry of the claims of a list, passing over rows that somebody has locked. */
    renew: statement<{ list: unknown }>(
      database,
      (p) => sql`update ${lease} set expires_ms = ${renewed}
        where ${dialect.unlocked(lease, id('fencing_token'), dialect.among(claim, 'text', p.list))}
        ${returning(sql`${claim}, expires_ms, ${now} as now_ms`)}`,
    ),
    /** Reads the claims of a list; how a renewal is answered where UPDATE gives no rows. */
    readClaims: statement<{ list: unknown }>(
      database,
      (p) =>
        sql`select ${claim}, expires_ms, ${now} as now_ms from ${lease} where ${dialect.among(claim, 'text', p.list)}`,
    ),
    /** Gives a lease back: exactly this acquisition. */
    release: statement<{ taskId: IdValue; claim: string }>(
      database,
      (p) =>
        sql`delete from ${lease} where ${task} = ${p.taskId} and ${claim} = ${p.claim} ${returning(sql`fencing_token`)}`,
    ),
    /** Gives the claims of a list back. */
    releaseMany: statement<{ list: unknown }>(
      database,
      (p) => sql`delete from ${lease} where ${dialect.among(claim, 'text', p.list)} ${returning(claim)}`,
    ),
    /** Deletes exactly the acquisition that was judged: a renewal that landed in between wins. */
    reclaim: statement<{ taskId: IdValue; claim: string; expiresAtMs: number }>(
      database,
      (
        p,
      ) => sql`delete from ${lease} where ${task} = ${p.taskId} and ${claim} = ${p.claim} and expires_ms = ${p.expiresAtMs}
        ${returning(sql`fencing_token`)}`,
    ),
  };
}

/** The statements on the lease table. */
export type LeaseStatements = ReturnType<typeof leaseStatements>;
