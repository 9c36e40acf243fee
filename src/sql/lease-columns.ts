import { sql } from 'kysely';
import type { IdType } from '../core/id.js';
import type { Dialect, Fragment } from '../dialect/dialect.js';

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
export const INSERTED = sql.join(
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

/** A holder as it is read, with the clock of the database. */
export function holderColumns(dialect: Dialect, { taskIdType, runIdType }: LeaseNames): Fragment {
  return sql`fencing_token, ${claim}, ${dialect.readId(taskIdType, task)} as task_id, owner, owner_pid,
    owner_boot_id, owner_host, owner_start, ${dialect.readId(runIdType, id('run_id'))} as run_id, stage,
    acquired_ms, expires_ms, ttl_ms, deadline_ms, ${dialect.nowMs} as now_ms`;
}

/** The clock of the database as the table `clock`: read once for a row, for on PostgreSQL it goes on meanwhile. */
export function clockOf({ nowMs }: Dialect): Fragment {
  return sql`(select ${nowMs} as now_ms) as clock`;
}

/** The three times of a new lease. */
export function timesOf(dialect: Dialect, ttlMs: Fragment<number>, maxHoldMs: Fragment<number>): Fragment {
  return sql`clock.now_ms, clock.now_ms + ${dialect.least(ttlMs, maxHoldMs)}, clock.now_ms + ${maxHoldMs}`;
}

/** The fields of the records that {@link insertRecords} writes. */
export function recordFields({ taskIdType, runIdType }: LeaseNames): Readonly<Record<string, IdType>> {
  return {
    claim: 'text',
    task_id: taskIdType,
    owner: 'text',
    run_id: runIdType,
    stage: 'text',
    any_stage: 'integer',
    ttl_ms: 'integer',
    max_hold_ms: 'integer',
  };
}

/** What is read of a lease that was granted. */
export const GRANTED = sql`fencing_token, ${claim}, acquired_ms, expires_ms, deadline_ms`;
