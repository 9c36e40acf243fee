import { err, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { handlerFailed, withValue } from '../core/fail.js';
import type {
  HandlerFailed,
  LeaseBusy,
  LeaseLost,
  LostRace,
  NotGranting,
  StoreFailure,
  TaskNotFound,
} from '../core/failure.js';
import { inFlight } from '../core/in-flight.js';
import { inspectValue } from '../core/inspect-value.js';
import type { Lease } from '../core/lease.js';
import { tryCall } from '../core/try-call.js';
import { secretOf } from '../holding/lease-handle.js';
import { acquire } from '../lease/acquire-lease.js';
import { release } from '../lease/give-back.js';
import { type CheckedRequest, checkLeaseRequest, type LeaseRequest } from '../lease/lease-request.js';
import { rowMissing } from '../lease-row/row-missing.js';
import type { Shape } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { type Held, hold } from './held.js';

/** The value of what a handler returned: a plain value, or that of a result; `never` if it always throws. */
export type HandledValue<R> = [Awaited<R>] extends [never]
  ? never
  : Awaited<R> extends Result<infer T, unknown>
    ? T
    : Awaited<R>;

/** The error of what a handler returned; `never` for a plain value. */
export type HandledError<R> = [Awaited<R>] extends [never]
  ? never
  : Awaited<R> extends Result<unknown, infer E>
    ? E
    : never;

/** Why a transition did not end as its handler meant it to. */
export type TransitionFailure<R, S extends Shape = Shape> =
  | LeaseBusy
  | LostRace<S['stage']>
  | TaskNotFound
  | NotGranting
  | LeaseLost<HandledValue<R>>
  | HandlerFailed
  | StoreFailure
  | HandledError<R>;

/**
 * Runs a handler under the lease on a task's transition: acquire, handle, stop renewing, release, in that
 * order, always.
 *
 * Busy, not granting, no such task, or a task that is not in the `stage` of the request: the handler is not called, so a
 * second webhook for a task that has moved on does nothing. Without a `stage` the handler is called for a task in any
 * stage, and `held.stage` is the one that it has. A handler that throws is `handler-failed` with its cause;
 * an error result is handed on as it is. Trouble in releasing never hides what the handler gave: it is reported
 * by events, and the row expires. A handler that returned although its lease was taken is `lease-lost` with
 * its value, never a plain success.
 *
 * Throws `TypeError` on an ownership made by `using(trx)`: an irreversible step never hangs on a row that
 * may be rolled back.
 *
 * @example
 * ```ts
 * import { withTransitionLease } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' } as const;
 * const done = await withTransitionLease(ownership, request, async (held) => {
 *   const ready = await held.ensure(5_000);
 *   return ready.asyncAndThen(() => held.updateStage('done'));
 * });
 * ```
 */
export function withTransitionLease<S extends Shape, R>(
  ownership: TransitionOwnership<S>,
  request: LeaseRequest<NoInfer<S>>,
  handler: (held: Held<S>) => R,
): ResultAsync<
  HandledValue<R>,
  | LeaseBusy
  | LostRace<S['stage']>
  | TaskNotFound
  | NotGranting
  | LeaseLost<HandledValue<R>>
  | HandlerFailed
  | StoreFailure
  | HandledError<R>
> {
  const context = contextOf(ownership);
  if (context.session.inTransaction) {
    throw new TypeError('withTransitionLease needs the ownership itself, not one made by using(trx)');
  }
  const checked = checkLeaseRequest(context, request);
  if (typeof handler !== 'function') throw new TypeError(`handler must be a function, got ${inspectValue(handler)}`);
  const run = inFlight(context.running, runHeld(context, checked, handler as unknown as (held: Held) => unknown));
  return neverReject(context.session, run) as ResultAsync<HandledValue<R>, TransitionFailure<R, S>>;
}

async function runHeld(
  context: Context,
  request: CheckedRequest,
  handler: (held: Held) => unknown,
): Promise<Result<unknown, unknown>> {
  const acquired = await acquire(context, request);
  if (acquired.isErr()) return err(acquired.error);
  const lease = acquired.value;
  const handled = await tryCall(() => handler(hold(context, lease)), handlerFailed);
  const lost = await giveBack(context, lease);
  // Who only observes is told of the loss by events alone.
  const isTold = lost !== undefined && context.mode() !== 'observe';
  return handled.isOk() && isTold ? err(withValue(lost, handled.value)) : handled;
}

/** Releases the lease; returns the loss if it was no longer ours, or was known to be lost and the database did not say. */
async function giveBack(context: Context, lease: Lease): Promise<LeaseLost | undefined> {
  const secret = secretOf(lease, context.root);
  const lostBefore = secret.guarded ? secret.holding.check() : undefined;
  const given = await release(context, lease);
  if (given.isErr()) return lostBefore;
  const { outcome, holder } = given.value;
  return secret.guarded && outcome === 'superseded' ? rowMissing(context, secret.holding, holder) : undefined;
}
