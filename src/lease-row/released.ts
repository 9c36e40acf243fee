import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import type { Holding } from '../holding/holding.js';
import { releaseUnguarded, type UnguardedSecret } from '../holding/lease-handle.js';

/**
 * Does what may delete the rows of leases: until its reply has come and was handled, no renewal that found a row gone may call
 * the lease lost.
 */
export async function releasing<T>(holdings: readonly Holding[], work: () => Promise<T>): Promise<T> {
  for (const holding of holdings) holding.note('release-sent');
  const done = await work();
  for (const holding of holdings) holding.note('release-ended');
  return done;
}

/**
 * The row of a lease was deleted by its owner. In a caller's transaction the delete may still be taken back,
 * so the lease stays in care: renewed while its row is there, and released once it is seen gone.
 */
export function released(context: Context, holding: Holding): void {
  const { taskId, fencingToken, actor } = holding.facts;
  const provisional = context.session.inTransaction;
  if (provisional) {
    holding.note('deleted-uncommitted');
    context.session.transaction?.written.add(taskId);
  } else {
    holding.note('deleted');
    context.renewer.drop(holding);
  }
  const { heldMs } = holding;
  context.observer.emit('lease.released', { taskId: jsonId(taskId), fencingToken, actor, provisional, heldMs });
}

/** A lease without a row was given back; returns whether it had been before. */
export function releasedUnguarded({ unguarded, holds }: Context, secret: UnguardedSecret): boolean {
  unguarded.delete(secret.signal);
  holds.end(secret.claim);
  return releaseUnguarded(secret);
}
