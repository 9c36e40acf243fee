import type { IdValue } from '../core/id.js';
import type { InsertRecord } from './lease-statements.js';

/** In what the rows of one process differ, as one JSON parameter; a bigint is spelled as its digits. */
export function insertRecords(rows: readonly InsertRecord[]): string {
  const records = rows.map((row) => ({
    claim: row.claim,
    task_id: digits(row.taskId),
    owner: row.actor,
    run_id: digits(row.runId),
    stage: row.stage,
    ttl_ms: row.ttlMs,
    max_hold_ms: row.maxHoldMs,
  }));
  return JSON.stringify(records);
}

function digits(id: IdValue | null): number | string | null {
  return typeof id === 'bigint' ? id.toString() : id;
}
