import { err, ok, type Result } from 'neverthrow';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { IdType, IdValue } from '../core/id.js';
import type { Reply, Row } from './execute.js';
import type { Session } from './session.js';
import { UnreadableRow } from './unreadable-row.js';

/** An integer of the database, however the driver spells it; `null` where it is none or not exact. */
export function readInteger(value: unknown): number | null {
  const number = typeof value === 'bigint' || typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && value !== '' ? number : null;
}

/** An integer that a row must have. */
export function demandInteger(row: Row, column: string): number {
  const value = readInteger(row[column]);
  if (value === null) throw new UnreadableRow(column, row[column], 'a safe integer');
  return value;
}

/** Text, however the driver spells it. */
export function readText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** An id of the declared type. */
export function readId(type: IdType, value: unknown): IdValue | null {
  if (value === null || value === undefined) return null;
  if (type === 'integer') return readInteger(value);
  const text = readText(value);
  if (type === 'text' || text === null) return text;
  return /^-?\d+$/.test(text) ? BigInt(text) : null;
}

/** Reads an id that must be there. */
export function demandId(type: IdType, row: Row, column: string): IdValue {
  const id = readId(type, row[column]);
  if (id === null) throw new UnreadableRow(column, row[column], `an id of type ${type}`);
  return id;
}

/** A row of the lease table as a frozen value. */
export function readHolder(row: Row, taskIdType: IdType, runIdType: IdType): Holder {
  return Object.freeze({
    taskId: demandId(taskIdType, row, 'task_id'),
    fencingToken: demandInteger(row, 'fencing_token'),
    claim: readText(row['claim']) ?? '',
    actor: readText(row['owner']) ?? '',
    pid: readInteger(row['owner_pid']),
    bootId: readText(row['owner_boot_id']),
    host: readText(row['owner_host']),
    start: readText(row['owner_start']),
    runId: readId(runIdType, row['run_id']),
    stage: readText(row['stage']),
    acquiredAtMs: readInteger(row['acquired_ms']),
    expiresAtMs: readInteger(row['expires_ms']),
    ttlMs: readInteger(row['ttl_ms']),
    deadlineAtMs: readInteger(row['deadline_ms']),
  });
}

/** Reads the rows of a reply; one that no one can read is a failure of the store, and what it did stands. */
export function readRows<T>(
  { observer }: Session,
  { rows }: Pick<Reply, 'rows'>,
  read: (row: Row) => T,
  outcome: StoreFailure['outcome'] = 'not-applied',
): Result<readonly T[], StoreFailure> {
  try {
    return ok(rows.map(read));
  } catch (cause) {
    const trouble = { kind: 'schema', retryable: false, outcome } as const;
    const failure = storeFailure({ ...trouble, cause });
    observer.emit('store.failed', { ...trouble, message: failure.message });
    return err(failure);
  }
}

/** The rows of a reply that can be read, and those that cannot, which are reported. */
export interface PartedRows<T> {
  readonly read: readonly T[];
  readonly unreadable: readonly Row[];
}

/** Reads those rows of a reply that can be read: one that cannot is reported, and stops no other. */
export function partRows<T>(session: Session, rows: readonly Row[], read: (row: Row) => T): PartedRows<T> {
  const unreadable: Row[] = [];
  const readable = rows.flatMap((row) => {
    const one = readRows(session, { rows: [row] }, read);
    if (one.isErr()) unreadable.push(row);
    return one.unwrapOr([]);
  });
  return { read: readable, unreadable };
}
