import type { IdValue } from '../core/id.js';
import type { ProcessIdentity } from '../core/process.js';

/** What an acquisition writes, besides whose it is. */
export interface InsertRecord {
  readonly claim: string;
  readonly taskId: IdValue;
  readonly actor: string;
  readonly runId: IdValue | null;
  readonly stage: string | null;
  /** True if the task may be in whatever stage: the lease then records that one. */
  readonly anyStage: boolean;
  readonly ttlMs: number;
  readonly maxHoldMs: number;
}

/** What an acquisition writes. */
export type InsertLease = InsertRecord & ProcessIdentity;

/** In what the rows of one process differ, as one JSON parameter; a bigint is spelled as its digits. */
export function insertRecords(rows: readonly InsertRecord[]): string {
  const records = rows.map((row) => ({
    claim: row.claim,
    task_id: digits(row.taskId),
    owner: row.actor,
    run_id: digits(row.runId),
    stage: row.stage,
    any_stage: row.anyStage ? 1 : 0,
    ttl_ms: row.ttlMs,
    max_hold_ms: row.maxHoldMs,
  }));
  return JSON.stringify(records);
}

function digits(id: IdValue | null): number | string | null {
  return typeof id === 'bigint' ? id.toString() : id;
}
