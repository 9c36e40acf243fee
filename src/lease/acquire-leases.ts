import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf, regimeOf } from '../context.js';
import { leaseContended, notGranting } from '../core/fail.js';
import type { LeaseBusy, LostRace, NotGranting, StoreFailure, TaskNotFound } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { inFlight } from '../core/in-flight.js';
import { inspectValue } from '../core/inspect-value.js';
import type { Lease } from '../core/lease.js';
import { abandonable } from '../lease-row/abandonable.js';
import type { Shape } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { acquireChunk, type Outcome } from './acquire-chunk.js';
import { acquireGuarded } from './acquire-lease.js';
import { refusalOf } from './acquisition.js';
import { release } from './give-back.js';
import { grantUnguarded, unguardedFor } from './grant.js';
import { type CheckedRequest, checkLeaseRequest, type LeaseRequest } from './lease-request.js';
import { acquireObserved } from './observed.js';
import { unguardedHere, unlessHere } from './unguarded-here.js';

/** What became of many requests. */
export interface AcquiredLeasesWith<TaskId extends IdValue, Stage extends string | null, RunId extends IdValue> {
  /** The leases that were granted, in the order of their requests. */
  readonly acquired: readonly Lease<TaskId, Stage, RunId>[];
  /** Those whose task another process holds. */
  readonly busy: readonly LeaseBusy[];
  /** Those whose task is not there, or not in the stage of the request. */
  readonly refused: readonly (LostRace<Stage> | TaskNotFound)[];
}

/** The same, with the types of an ownership. */
export type AcquiredLeases<S extends Shape> = AcquiredLeasesWith<S['taskId'], S['stage'], S['runId']>;

/** Requests in one statement. */
const CHUNK = 500;

/**
 * Takes the leases on many tasks in few statements, each task on its own: some may be busy, or refused because the task
 * is not there or not in the stage of its request.
 *
 * Rows are inserted in the order of their ids, so that two such calls never wait for each other in a ring.
 * A task may be named once. Fails as a whole with `not-granting` or `store-failure`, unless every request that
 * got no reply chose to proceed unguarded; what was granted before a failure is given back, or expires.
 *
 * @example
 * ```ts
 * import { acquireLeases, toError } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const requests = [1, 2, 3].map((taskId) => ({ taskId, actor: 'reconciler' }));
 * const asked = await acquireLeases(ownership, requests);
 * if (asked.isErr()) throw toError(asked.error);
 * const { acquired, busy, refused } = asked.value;
 * // acquired.length + busy.length + refused.length === 3
 * ```
 */
export function acquireLeases<S extends Shape>(
  ownership: TransitionOwnership<S>,
  requests: readonly LeaseRequest<NoInfer<S>>[],
): ResultAsync<AcquiredLeasesWith<S['taskId'], S['stage'], S['runId']>, NotGranting | StoreFailure> {
  const context = contextOf(ownership);
  if (!Array.isArray(requests)) throw new TypeError(`requests must be an array, got ${inspectValue(requests)}`);
  // A hole is a request as well, and none that can be granted.
  const checked = Array.from(requests, (request: LeaseRequest<Shape>) => checkLeaseRequest(context, request));
  const tasks = new Set<IdValue>();
  for (const { taskId } of checked) {
    if (tasks.has(taskId)) throw new RangeError(`requests must name each task once, got ${inspectValue(taskId)} twice`);
    tasks.add(taskId);
  }
  const late = (result: Result<AcquiredLeases<Shape>, unknown>): void => {
    for (const lease of result.isOk() ? result.value.acquired : []) void release(context, lease);
  };
  const abandoning = { signal: anySignal(checked), told: () => notGranting('aborted'), late };
  const all = abandonable(context, abandoning, (patient) => acquireAll(patient, checked));
  const asked = inFlight(context.running, all);
  return neverReject(context.session, asked);
}

async function acquireAll(
  context: Context,
  requests: readonly CheckedRequest[],
): Promise<Result<AcquiredLeases<Shape>, NotGranting | StoreFailure>> {
  const refusal = anyRefusal(context, requests);
  if (refusal !== undefined) return err(refusal);
  const regimes = requests.map((request) => regimeOf(context, request));
  if (regimes.includes('draining')) return err(notGranting('draining'));
  const outcomes = new Map<IdValue, Outcome>();
  for (const [at, request] of requests.entries()) {
    if (regimes[at] !== 'observe') continue;
    const unasked = { ...request, proceedUnguarded: false };
    const observed = await acquireObserved(context, request, (patient) => acquireGuarded(patient, unasked));
    if (observed.isOk()) outcomes.set(request.taskId, ok(observed.value));
    else return giveBack(context, outcomes, observed.error);
  }
  for (const [at, request] of requests.entries()) {
    const here = regimes[at] === 'on' ? unguardedHere(context, request) : undefined;
    if (here !== undefined) outcomes.set(request.taskId, err(here));
  }
  const guarded = requests
    .filter(({ taskId }, at) => regimes[at] === 'on' && !outcomes.has(taskId))
    .sort((a, b) => (a.taskId < b.taskId ? -1 : 1));
  for (let at = 0; at < guarded.length; at += CHUNK) {
    const chunk = guarded.slice(at, at + CHUNK);
    const failure = (await acquireChunk(context, chunk, outcomes)) ?? anyRefusal(context, requests);
    if (failure === undefined) continue;
    const open = chunk.filter(({ taskId }) => !outcomes.has(taskId));
    if (failure.type === 'store-failure' && open.every(({ proceedUnguarded }) => proceedUnguarded)) {
      for (const request of open) outcomes.set(request.taskId, ok(grantUnguarded(context, request, 'store-failed')));
      continue;
    }
    return giveBack(context, outcomes, failure);
  }
  for (const request of guarded) {
    const granted = outcomes.get(request.taskId);
    if (granted === undefined || granted.isErr() || !granted.value.guarded) continue;
    const kept = await unlessHere(context, request, granted.value);
    if (kept.isOk()) continue;
    if (kept.error.type === 'store-failure') return giveBack(context, outcomes, kept.error);
    outcomes.set(request.taskId, err(kept.error));
  }
  for (const [at, request] of requests.entries()) {
    if (regimes[at] === 'off')
      outcomes.set(request.taskId, ok(grantUnguarded(context, request, unguardedFor(context))));
  }
  const inOrder = requests.map(({ taskId }) => outcomes.get(taskId) ?? err(leaseContended(taskId)));
  const failures = inOrder.flatMap((outcome) => (outcome.isErr() ? [outcome.error] : []));
  return ok(
    Object.freeze({
      acquired: Object.freeze(inOrder.flatMap((outcome) => (outcome.isOk() ? [outcome.value] : []))),
      busy: Object.freeze(failures.filter((failure) => failure.type === 'lease-busy')),
      refused: Object.freeze(failures.filter((failure) => failure.type !== 'lease-busy')),
    }),
  );
}

/** What was granted before a failure is given back, or expires. */
async function giveBack<E>(
  context: Context,
  outcomes: ReadonlyMap<IdValue, Outcome>,
  failure: E,
): Promise<Result<never, E>> {
  // Sent also where the caller waits no more.
  const unbound: Context = { ...context, session: { ...context.session, patience: undefined } };
  for (const outcome of outcomes.values()) if (outcome.isOk()) void (await release(unbound, outcome.value));
  return err(failure);
}

/** A signal that fires with the first of those of the requests; `undefined` if none has one. */
function anySignal(requests: readonly CheckedRequest[]): AbortSignal | undefined {
  const signals = new Set(requests.flatMap(({ signal }) => signal ?? []));
  const [first] = signals;
  return signals.size > 1 ? AbortSignal.any([...signals]) : first;
}

/** Why one of the requests, and with it all, is not granted whatever the rows say. */
function anyRefusal(context: Context, requests: readonly CheckedRequest[]): NotGranting | undefined {
  for (const request of requests) {
    const refusal = refusalOf(context, request);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
