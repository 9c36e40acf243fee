import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { jsonId } from '../core/event.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { Lease } from '../core/lease.js';
import { optional, type RulesOf, requestOf, signal } from '../core/request.js';
import { type Holding, trustedOf } from '../holding/holding.js';
import { secretOf } from '../holding/lease-handle.js';
import { abandonable, abandoned } from '../lease-row/abandonable.js';
import { readJudged } from '../lease-row/read-holder.js';
import { released, releasedUnguarded, releasing } from '../lease-row/released.js';
import { rowMissing } from '../lease-row/row-missing.js';
import type { Shape } from '../shape.js';
import { changed, execute } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import type { TransitionOwnership } from '../transition-ownership.js';

/** What a release found: our row, nothing more to do, or that the lease was no longer ours. */
export type ReleaseOutcome = 'released' | 'already-released' | 'superseded';

/** A release, with who holds the task instead where it was no longer ours. */
export interface Released {
  readonly outcome: ReleaseOutcome;
  readonly holder: Holder | null;
}

/**
 * Gives a lease back: one DELETE of exactly this acquisition, never of another's.
 *
 * Losing is not an error: `'superseded'` says that the row was gone or another process's; the loss is reported, and
 * the signal fires. Inside a caller's transaction the row goes with its commit. A `store-failure` leaves the row to
 * expire, or to be reclaimed as an orphan by this process; asked again after one of unknown outcome, a row that is
 * gone is `'already-released'`, whoever holds the task by then.
 *
 * @example
 * ```ts
 * import { acquireLease, releaseLease, toError } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const acquired = await acquireLease(ownership, { taskId: 1, actor: 'reaper' });
 * if (acquired.isErr()) throw toError(acquired.error);
 * const lease = acquired.value;
 * const released = await releaseLease(ownership, lease); // ok('released')
 * ```
 */
export function releaseLease<S extends Shape>(
  ownership: TransitionOwnership<S>,
  lease: Lease<NoInfer<S>['taskId']>,
  options: ReleaseOptions = {},
): ResultAsync<ReleaseOutcome, StoreFailure> {
  const context = contextOf(ownership);
  const secret = secretOf(lease, context.root);
  const { signal } = check(options);
  const isDone = !secret.guarded || secret.holding.state === 'released';
  const abandoning = { signal: isDone ? undefined : signal, told: abandoned(context, signal), goesOn: true };
  const given = abandonable(context, abandoning, (patient) => release(patient, lease));
  return neverReject(
    context.session,
    given.then((released) => released.map(({ outcome }) => outcome)),
  );
}

/** How long a release is waited for. */
export interface ReleaseOptions {
  /**
   * Ends the wait when it fires: `store-failure` at once, of unknown outcome once the DELETE was sent. The release goes
   * on all the same, and what comes late is told by events.
   */
  readonly signal?: AbortSignal | undefined;
}

const check = requestOf({ signal: optional(signal) } satisfies RulesOf<ReleaseOptions>, 'options');

const ALREADY: Released = Object.freeze({ outcome: 'already-released', holder: null });
const RELEASED: Released = Object.freeze({ outcome: 'released', holder: null });

/** The verb without its types. */
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
