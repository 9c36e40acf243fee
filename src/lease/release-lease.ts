import type { ResultAsync } from 'neverthrow';
import { contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { Lease } from '../core/lease.js';
import { optional, type RulesOf, requestOf, signal } from '../core/request.js';
import { secretOf } from '../holding/lease-handle.js';
import { abandonable, abandoned } from '../lease-row/abandonable.js';
import type { Shape } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { type ReleaseOutcome, release } from './give-back.js';

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
