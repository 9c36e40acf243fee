import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { Lease } from '../core/lease.js';
import { type Holding, trustedOf } from '../holding/holding.js';
import { secretOf } from '../holding/lease-handle.js';
import { readJudged } from '../lease-row/read-holder.js';
import { released, releasedUnguarded, releasing } from '../lease-row/released.js';
import { rowMissing } from '../lease-row/row-missing.js';
import { changed, execute } from '../sql/execute.js';

/** What a release found: our row, nothing more to do, or that the lease was no longer ours. */
export type ReleaseOutcome = 'released' | 'already-released' | 'superseded';

/** A release, with who holds the task instead where it was no longer ours. */
export interface Released {
  readonly outcome: ReleaseOutcome;
  readonly holder: Holder | null;
}

const ALREADY: Released = Object.freeze({ outcome: 'already-released', holder: null });
const RELEASED: Released = Object.freeze({ outcome: 'released', holder: null });

/**
 * Gives one lease back, for every verb that ends one.
 *
 * 1. A lease that was released already: nothing is sent.
 * 2. One DELETE of exactly this acquisition. No reply: the lease is left to expire, `unsettled` if the row may be gone.
 * 3. It deleted the row, or an earlier try did whose reply was lost: released.
 * 4. It found no row. This process may have deleted it before: already released. Else the row is looked for, and the
 *    lease was lost.
 */
export async function release(context: Context, lease: Lease): Promise<Result<Released, StoreFailure>> {
  const secret = secretOf(lease, context.root);
  if (!secret.guarded) return ok(releasedUnguarded(context, secret) ? ALREADY : RELEASED);
  const { holding } = secret;
  return holding.state === 'released' ? ok(ALREADY) : releasing([holding], () => giveBack(context, holding));
}

async function giveBack(context: Context, holding: Holding): Promise<Result<Released, StoreFailure>> {
  const lostBefore = holding.check();
  const { taskId, claim } = holding.facts;
  const deleted = await execute(
    context.session,
    context.leases.release({ taskId, claim }),
    'repeatable',
    trustedOf([holding]),
  );
  if (deleted.isErr()) {
    releaseFailed(context, holding, deleted.error);
    return err(deleted.error);
  }
  // A second release of the same lease may have had its reply first.
  if (holding.state === 'released') return ok(ALREADY);
  // An earlier try whose reply was lost may have deleted the row, if it was still ours then.
  if (changed(context.session, deleted.value) || (deleted.value.repeated && lostBefore === undefined)) {
    released(context, holding);
    return ok(RELEASED);
  }
  if (holding.state === 'uncommitted' || holding.state === 'unsettled') {
    if (!context.session.inTransaction) {
      holding.note('deleted');
      context.renewer.drop(holding);
    }
    return ok(ALREADY);
  }
  holding.note('release-ended');
  const read = await readJudged(context, taskId);
  const holder = read.unwrapOr(null)?.holder ?? null;
  rowMissing(context, holding, holder);
  context.renewer.drop(holding);
  return ok({ outcome: 'superseded', holder });
}

/**
 * A release that did not reach the database: the claim is in use no more, so its row is an orphan. In a caller's
 * transaction, which fails with it, the lease goes on.
 */
export function releaseFailed(context: Context, holding: Holding, { message, outcome }: StoreFailure): void {
  const { taskId, fencingToken, actor } = holding.facts;
  if (!context.session.inTransaction) {
    if (outcome === 'unknown' && holding.check() === undefined) holding.note('reply-lost');
    context.renewer.drop(holding);
  }
  context.observer.emit('lease.release-failed', { taskId: jsonId(taskId), fencingToken, actor, message });
}
