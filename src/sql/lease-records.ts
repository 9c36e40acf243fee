import type { InsertLease } from './lease-statements.js';

/** Rows to insert as one JSON parameter; a bigint is spelled as its digits. */
export function insertRecords(rows: readonly InsertLease[]): string {
  const records = rows.map((row) => ({
    claim: row.claim,
    task_id: row.taskId,
    owner: row.actor,
    owner_pid: row.pid,
    owner_boot_id: row.bootId,
    owner_host: row.host,
    owner_start: row.start,
    run_id: row.runId,
    stage: row.stage,
    ttl_ms: row.ttlMs,
    max_hold_ms: row.maxHoldMs,
  }));
  return JSON.stringify(records, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}
