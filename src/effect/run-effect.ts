import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { EffectRecord } from '../core/effect.js';
import type { Json } from '../core/effect-result.js';
import { effectFailed, effectUnknown, reasonOf } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { inFlight } from '../core/in-flight.js';
import type { Lease } from '../core/lease.js';
import { secretOf } from '../holding/lease-handle.js';
import { ownSpelling } from '../lease-row/own-spelling.js';
import type { Shape } from '../shape.js';
import type { EffectStatements } from '../sql/effect-statements.js';
import { neverReject } from '../sql/never-reject.js';
import { suited } from '../survey/suited.js';
import { TOO_LATE, withTimeout } from '../system/with-timeout.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { callApply } from './call-apply.js';
import type { EffectFailure, EffectOutcome } from './effect-outcome.js';
import { type CheckedEffect, checkEffect, type EffectRequest, journalOf } from './effect-request.js';
import { effectFacts, readEffect } from './journal.js';
import { runGuarded } from './run-guarded.js';

/**
 * Runs one irreversible step under a lease, so that a step whose outcome is unknown is never repeated on a guess.
 *
 * The lease is renewed; the start is written down in a statement that the lease fences; `apply` is called; its
 * result is written down under the start's own claim, so that a lease lost meanwhile does not lose a known
 * outcome. Applied before: the recorded result is returned and `apply` is not called. Under way in this process:
 * its end is waited for and shared, for as long as the lease may be held; inside its own `apply` it fails at once.
 * With a probe and no start, the probe is asked first. Started and not known to be applied: the probe decides, and without one, or where it
 * cannot tell, the effect is held.
 *
 * Under mode `off`, out of scope, it just calls `apply` and writes nothing down.
 *
 * What it cannot do: two processes may both be in `apply` when one was paused past its lease and another
 * probed meanwhile, so give the outside system the fencing token or the idempotency key; and SQLite with
 * `synchronous=NORMAL` may lose the last commits at a power cut, so keep the journal with `FULL`, as
 * `openSqlite` does.
 *
 * Fails with `lease-lost` (with the value, if it was applied although another owner had started it too),
 * `not-enough-time`, `effect-unknown` (alert; see `resolveEffect`), `effect-failed` (it certainly did nothing:
 * `apply` threw `NotApplied`, the signal of the lease had fired before, or it is run inside its own `apply`),
 * `effect-unrecorded` (alert: it was applied and could not be written down; the value is in it, and run again in this
 * process it is only written down), or `store-failure` (nothing was applied by this call). Throws `TypeError` without the option `effects`,
 * on an ownership made by `using(trx)`, and for a lease granted although the store failed.
 *
 * @example
 * ```ts
 * import { NotApplied, runEffect, withTransitionLease } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const merges = new Set<string>();
 * const merged = await withTransitionLease(ownership, { taskId: 1, actor: 'finalizer' }, (held) =>
 *   runEffect(ownership, held, {
 *     effect: 'merge_pr',
 *     key: '0b5a3f1',
 *     probe: () => (merges.has('0b5a3f1') ? 'applied' : 'not-applied'),
 *     apply: async ({ idempotencyKey, signal }) => {
 *       if (signal.aborted) throw new NotApplied('too late to begin');
 *       merges.add('0b5a3f1');
 *       return { merged: true, under: idempotencyKey };
 *     },
 *   }),
 * );
 * merged.map(({ status }) => status); // ok('applied')
 * ```
 */
export function runEffect<S extends Shape, V extends Json | void>(
  ownership: TransitionOwnership<S>,
  lease: Lease<NoInfer<S>['taskId']>,
  request: EffectRequest<NoInfer<S>, V>,
): ResultAsync<EffectOutcome<V>, EffectFailure<V>> {
  const context = contextOf(ownership);
  return run(context, checkEffect(context, lease, request)) as ResultAsync<EffectOutcome<V>, EffectFailure<V>>;
}

/** The verb without its types. */
export function run(context: Context, request: CheckedEffect): ResultAsync<EffectOutcome, EffectFailure> {
  return neverReject(context.session, inFlight(context.running, runAs(context, request)));
}

function runAs(context: Context, request: CheckedEffect): Promise<Result<EffectOutcome, EffectFailure>> {
  const secret = secretOf(request.lease, context.root);
  if (!secret.guarded)
    return secret.reason === 'observed' ? runObserved(context, request) : runUnguarded(context, request);
  const effects = journalOf(context, 'runEffect');
  const { holding } = secret;
  const guarded = suited(context, ['effects'], () => runGuarded({ context, effects, request, holding }));
  return context.mode() === 'observe' ? guarded.then((ran) => goOn(context, request, ran)) : guarded;
}

/** Under mode `observe` a store in trouble, or a lease that went, stops no effect. */
function goOn(
  context: Context,
  request: CheckedEffect,
  ran: Result<EffectOutcome, EffectFailure>,
): Promise<Result<EffectOutcome, EffectFailure>> {
  const stopped = ['store-failure', 'lease-lost', 'not-enough-time'];
  return ran.isErr() && stopped.includes(ran.error.type) ? runUnguarded(context, request) : Promise.resolve(ran);
}

/** How long the journal may delay an effect that is applied in any case, in ms. */
const LOOK_MS = 250;

/** Of one who would have been refused: applied, and not written down; what the journal would have said is reported. */
async function runObserved(context: Context, request: CheckedEffect): Promise<Result<EffectOutcome, EffectFailure>> {
  const { effects, ports, observer } = context;
  if (effects !== undefined) {
    const read = await withTimeout(ports.clock, LOOK_MS, lookUp(context, effects, request));
    const record = read === TOO_LATE ? null : read.unwrapOr(null);
    if (record !== null)
      observer.emit(
        record.state === 'applied' ? 'would-skip' : 'would-hold',
        effectFacts(request, record.fencingToken),
      );
  }
  return runUnguarded(context, request);
}

/** The record of an effect by the id as the row of its task spells it, else by the one that the request gave. */
async function lookUp(
  context: Context,
  effects: EffectStatements,
  request: CheckedEffect,
): Promise<Result<EffectRecord | null, StoreFailure>> {
  const own = await ownSpelling(context, request.taskId);
  if (own.isErr()) return err(own.error);
  const record = await readEffect(context, effects, { ...request, taskId: own.value });
  const isFound = record.isErr() || record.value !== null || own.value === request.taskId;
  return isFound ? record : readEffect(context, effects, request);
}

/** Without a lease's row there is nothing to write a start under. */
async function runUnguarded(context: Context, request: CheckedEffect): Promise<Result<EffectOutcome, EffectFailure>> {
  const facts = effectFacts(request, null);
  const since = context.ports.clock.wallMs();
  const end = await callApply(context, request);
  if (end.is === 'not-applied') return err(effectFailed(end.cause));
  if (end.is === 'applied') {
    const { value, unrecorded } = end;
    context.observer.emit('effect.applied', { ...facts, by: 'apply', unrecorded });
    return ok(Object.freeze({ status: 'applied', value, ...(unrecorded !== null && { unrecorded }) }));
  }
  const { taskId, effect, key } = request;
  const { cause } = end;
  const failure = effectUnknown({ taskId, effect, key, since, cause }, `its apply threw: ${reasonOf(cause)}`);
  context.observer.emit('effect.unknown', { ...facts, message: failure.message });
  return err(failure);
}
