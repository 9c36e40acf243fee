import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import type { Holding } from '../runtime/holding.js';

/**
 * The row of a lease was deleted by its owner. In a caller's transaction the delete may still be taken back,
 * so the lease stays in care: renewed while its row is there, and released once it is seen gone.
 */
export function released(context: Context, holding: Holding): void {
  const { taskId, fencingToken, actor, entry } = holding.facts;
  const provisional = context.session.inTransaction;
  entry.phase = 'releasing';
  if (provisional) holding.maybeReleased = true;
  else {
    holding.settle();
    context.keeper.drop(holding);
  }
  context.observer.tell('lease.released', { taskId: jsonId(taskId), fencingToken, actor, provisional });
}
