import type { Result } from 'neverthrow';
import type { StoreFailure } from '../core/failure.js';
import type { IdType, IdValue } from '../core/id.js';
import type { Reply, Row } from './execute.js';
import { demandId, demandInteger, readRows, readText } from './rows.js';
import type { Session } from './session.js';

/** A task as a look found it. */
export interface SeenTask {
  /** Its id as its row spells it. */
  readonly taskId: IdValue;
  readonly stage: string | null;
}

/** A row that an acquisition inserted: the lease, and the task as it was when the row was written. */
export interface GrantedRow extends SeenTask {
  readonly claim: string;
  readonly fencingToken: number;
  readonly acquiredAtMs: number;
  readonly expiresAtMs: number;
  readonly deadlineAtMs: number;
}

/** The same with the task as it was after that; `null` where another session had its row locked. */
export interface TakenRow extends GrantedRow {
  readonly seen: SeenTask | null;
}

/** Reads the rows that an acquisition inserted. */
export function readTaken(
  session: Session,
  taskIdType: IdType,
  reply: Reply,
): Result<readonly TakenRow[], StoreFailure> {
  return readRows(session, reply, (row) => takenRow(session, taskIdType, row), 'unknown');
}

function takenRow({ dialect }: Session, taskIdType: IdType, row: Row): TakenRow {
  const task = { taskId: demandId(taskIdType, row, 'task_id'), stage: readText(row['stage']) };
  return {
    ...task,
    claim: readText(row['claim']) ?? '',
    fencingToken: demandInteger(row, 'fencing_token'),
    acquiredAtMs: demandInteger(row, 'acquired_ms'),
    expiresAtMs: demandInteger(row, 'expires_ms'),
    deadlineAtMs: demandInteger(row, 'deadline_ms'),
    seen: dialect.secondLook === undefined ? task : readSeen(taskIdType, row['seen']),
  };
}

function readSeen(taskIdType: IdType, pair: unknown): SeenTask | null {
  if (pair === null || pair === undefined) return null;
  const [id, stage] = JSON.parse(readText(pair) ?? '[]') as readonly unknown[];
  return { taskId: demandId(taskIdType, { task_id: id }, 'task_id'), stage: readText(stage) };
}
