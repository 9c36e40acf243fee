import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { leaseUnguardedHere } from '../core/fail.js';
import type { LeaseBusy, StoreFailure } from '../core/failure.js';
import type { Lease } from '../core/lease.js';
import type { UnguardedHold } from '../holding/unguarded-holds.js';
import { ownSpelling } from '../lease-row/own-spelling.js';
import { release } from './give-back.js';
import type { CheckedRequest } from './lease-request.js';

/**
 * The refusal of a task that this process holds without a row: a handler that began under mode `off` goes on after the
 * switch, and no row shows it.
 */
export function unguardedHere(context: Context, request: CheckedRequest): LeaseBusy | undefined {
  const { holds } = context;
  if (holds.size === 0) return undefined;
  const same = holds.all.find((hold) => hold.taskId === request.taskId);
  return same && refused(context, request, same);
}

/** The same of a lease just granted: a hold may spell the id of the task in another way than its row. */
export async function unlessHere(
  context: Context,
  request: CheckedRequest,
  lease: Lease,
): Promise<Result<Lease, LeaseBusy | StoreFailure>> {
  const { holds, settings } = context;
  if (holds.size === 0 || settings.taskIdType !== 'text') return ok(lease);
  for (const hold of holds.all) {
    const known = holds.spelled.get(hold);
    const own = known === undefined ? await ownSpelling(context, hold.taskId) : ok(known);
    if (own.isOk()) holds.spelled.set(hold, own.value);
    if (own.isOk() && own.value !== lease.taskId) continue;
    void (await release(context, lease));
    return err(own.isErr() ? own.error : refused(context, request, hold));
  }
  return ok(lease);
}

function refused({ observer }: Context, { taskId, actor }: CheckedRequest, hold: UnguardedHold): LeaseBusy {
  const facts = { taskId: jsonId(taskId), fencingToken: null, actor };
  observer.emit('lease.busy', { ...facts, verdict: 'live', reason: 'unguarded-here' });
  return leaseUnguardedHere(taskId, hold.actor);
}
