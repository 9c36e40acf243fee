import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { ofUnknownOutcome } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import { changed, execute, type Reply } from '../sql/execute.js';
import type { Judged } from './judge-holder.js';
import { readJudged } from './read-holder.js';

/**
 * Deletes exactly the acquisition that was judged dead: its claim and the expiry that was judged.
 *
 * Two observers can never both reclaim it, and a renewal that lands in between wins. True if this call deleted it; so
 * too where a reply was lost and the row is seen gone: another observer may then have deleted it instead.
 */
export async function reclaim(
  context: Context,
  { holder, judgement, expiry }: Judged,
): Promise<Result<boolean, StoreFailure>> {
  const { taskId, claim, fencingToken, actor } = holder;
  if (judgement.verdict !== 'dead') return ok(false);
  const deleted = await execute(context.session, context.leases.reclaim({ taskId, claim, expiry }));
  const gone = await isGone(context, holder, deleted);
  return gone.map((isGoneNow) => {
    if (!isGoneNow) return false;
    context.sightings.forget(claim);
    const { verdict, reason } = judgement;
    const facts = { taskId: jsonId(taskId), fencingToken, actor };
    context.observer.emit('lease.reclaimed', { ...facts, verdict, reason });
    if (reason === 'over-budget') context.observer.emit('lease.forced', { ...facts, reason });
    return true;
  });
}

/** Whether a DELETE did its work; after a reply that was lost the row shows it. */
async function isGone(
  context: Context,
  { taskId, claim }: Holder,
  deleted: Result<Reply, StoreFailure>,
): Promise<Result<boolean, StoreFailure>> {
  const { session } = context;
  if (deleted.isOk() && (changed(session, deleted.value) || !deleted.value.repeated)) {
    return ok(changed(session, deleted.value));
  }
  if (session.inTransaction || (deleted.isErr() && deleted.error.outcome !== 'unknown'))
    return deleted.map(() => false);
  const read = await readJudged(context, taskId);
  if (read.isErr()) return err(deleted.isErr() ? deleted.error : ofUnknownOutcome(read.error));
  if (read.value?.holder.claim !== claim) return ok(true);
  return deleted.map(() => false);
}
