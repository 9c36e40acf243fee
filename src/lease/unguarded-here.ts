import { ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { leaseUnguardedHere } from '../core/fail.js';
import type { LeaseBusy, StoreFailure } from '../core/failure.js';
import { ownSpelling } from '../lease-row/own-spelling.js';
import type { CheckedRequest } from './lease-request.js';

/**
 * The refusal of a task that this process holds without a row: a handler that began under mode `off` goes on after the
 * switch, and no row shows it. Ids that the task's row spells alike are one task.
 */
export async function unguardedHere(
  context: Context,
  { taskId, actor }: CheckedRequest,
): Promise<Result<LeaseBusy | undefined, StoreFailure>> {
  const { holds, settings, observer } = context;
  const busy = (holder: string): LeaseBusy => {
    const facts = { taskId: jsonId(taskId), fencingToken: null, actor };
    observer.emit('lease.busy', { ...facts, verdict: 'live', reason: 'unguarded-here' });
    return leaseUnguardedHere(taskId, holder);
  };
  const same = holds.all.find((hold) => hold.taskId === taskId);
  if (same !== undefined) return ok(busy(same.actor));
  if (settings.taskIdType !== 'text') return ok(undefined);
  const asked = await ownSpelling(context, taskId);
  if (asked.isErr()) return asked.map(() => undefined);
  for (const hold of holds.all) {
    const own = await ownSpelling(context, hold.taskId);
    if (own.isErr()) return own.map(() => undefined);
    if (own.value === asked.value) return ok(busy(hold.actor));
  }
  return ok(undefined);
}
