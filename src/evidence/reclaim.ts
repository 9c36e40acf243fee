import { ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import type { StoreFailure } from '../core/failure.js';
import { changed, execute } from '../sql/execute.js';
import type { Judged } from './judge-holder.js';

/**
 * Deletes exactly the acquisition that was judged dead: its claim and the expiry that was judged.
 *
 * Two observers can never both reclaim it, and a renewal that lands in between wins. True if this call
 * deleted it.
 */
export async function reclaim(
  context: Context,
  { holder, judgement, expiry }: Judged,
): Promise<Result<boolean, StoreFailure>> {
  const { taskId, claim, fencingToken, actor } = holder;
  if (judgement.verdict !== 'dead') return ok(false);
  const deleted = await execute(context.session, context.leases.reclaim({ taskId, claim, expiry }));
  return deleted.map((answer) => {
    if (!changed(context.session, answer)) return false;
    context.sightings.forget(claim);
    const { verdict, reason } = judgement;
    const facts = { taskId: jsonId(taskId), fencingToken, actor };
    context.observer.tell('lease.reclaimed', { ...facts, verdict, reason });
    if (reason === 'over-budget') context.observer.tell('lease.forced', { ...facts, reason });
    return true;
  });
}
