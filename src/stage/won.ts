import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { lostRace, taskNotFound } from '../core/fail.js';
import type { LostRace, StoreFailure, TaskNotFound } from '../core/failure.js';
import { type Look, lookAt, seesLatest } from '../lease-row/looking.js';
import { execute, type Row } from '../sql/execute.js';
import { readText } from '../sql/rows.js';
import type { StageChange } from './stage-change.js';
import type { CheckedStageWrite } from './stage-request.js';

/** Reports a write that happened; one whose stage a trigger rewrote is reported as the race that it lost. */
export function won(
  context: Context,
  { taskId, expected, next, lease: under }: CheckedStageWrite,
  row: Row | undefined,
  lease: { readonly fencingToken: number | null; readonly released: boolean },
): Result<StageChange, LostRace<string | null>> {
  const left = row === undefined ? next : readText(row['stage']);
  if (left !== next) return err(raceLost(context, { taskId, expected }, left));
  const { fencingToken } = lease;
  const actor = under?.actor ?? null;
  context.observer.emit('stage.changed', { taskId: jsonId(taskId), from: expected, to: next, fencingToken, actor });
  return ok(Object.freeze({ taskId, from: expected, to: next, ...lease }));
}

/** Reports a race that was lost. */
export function raceLost(
  context: Context,
  { taskId, expected }: Pick<CheckedStageWrite, 'taskId' | 'expected'>,
  actual: string | null,
): LostRace<string | null> {
  context.observer.emit('stage.race-lost', { taskId: jsonId(taskId), expected, actual });
  return lostRace(taskId, expected, actual);
}

/**
 * The stage as of the latest commit. After a write that found the row, in the transaction, which has it locked by then
 * wherever it must be locked to be seen; else as {@link lookAt} says.
 */
export async function readStage(
  context: Context,
  { taskId }: Pick<CheckedStageWrite, 'taskId'>,
  after: 'look' | 'write',
): Promise<Result<string | null, TaskNotFound | StoreFailure>> {
  const { session, latest } = after === 'look' ? await lookAt(context, [taskId]) : await afterWrite(context);
  const { tasks } = context;
  const read = await execute(session, (latest ? tasks.readLatestStage : tasks.readStage)({ taskId }));
  if (read.isErr()) return err(read.error);
  const row = read.value.rows[0];
  return row === undefined ? err(taskNotFound(taskId)) : ok(readText(row['stage']));
}

async function afterWrite(context: Context): Promise<Look> {
  const { session } = context;
  return { session, latest: session.inTransaction && (await seesLatest(context)) !== true };
}
