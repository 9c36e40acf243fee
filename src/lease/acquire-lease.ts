import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf, regimeOf } from '../context.js';
import { leaseContended, notGranting, ofUnknownOutcome, taskNotFound } from '../core/fail.js';
import type { LeaseBusy, LostRace, NotGranting, StoreFailure, TaskNotFound } from '../core/failure.js';
import { inFlight } from '../core/in-flight.js';
import type { Lease } from '../core/lease.js';
import { anchorNow } from '../holding/anchor.js';
import { abandonable } from '../lease-row/abandonable.js';
import { findTask } from '../lease-row/find-task.js';
import type { Shape } from '../shape.js';
import type { LateQuery } from '../sql/execute.js';
import { readTaken } from '../sql/granted-rows.js';
import { neverReject } from '../sql/never-reject.js';
import { isNoId, saysNoId } from '../survey/no-such-id.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import {
  grantFresh,
  type Keyed,
  lookFirst,
  looksFirst,
  maxTries,
  mayHaveInserted,
  overAlready,
  refusalOf,
  refuse,
  settle,
  undo,
  unfit,
} from './acquisition.js';
import { findOwn } from './find-own.js';
import { release } from './give-back.js';
import { enterClaim, grantUnguarded, insertParameters, leaveClaim, type Pending, unguardedFor } from './grant.js';
import { giveBackLate, insertWithin } from './insert-within.js';
import { type CheckedRequest, checkLeaseRequest, type LeaseRequest } from './lease-request.js';
import { acquireObserved } from './observed.js';
import { unguardedHere, unlessHere } from './unguarded-here.js';

/**
 * Takes the durable lease on a task's transition: one INSERT when the task is free.
 *
 * The task is looked at in the same statement. If the request names a `stage`, the task must be in it, whoever holds
 * the task; without one the task may be in any, and the lease records which. So a second webhook for a task that has
 * moved on is `lost-race`, and nothing of yours is called. An unleased stage write that is in flight at the same moment
 * may still move the task under its new owner on PostgreSQL and MySQL; the owner's fenced write then loses.
 *
 * A held task is judged: a live or unknown owner is `lease-busy`; a dead one is reclaimed, exactly the
 * acquisition that was judged, and the insert is tried again. There is no re-entrancy: two actors of one
 * process are two contenders. On an ownership made by `using(trx)` the lease is provisional until the
 * transaction is seen committed.
 *
 * The key of the lease, and its `taskId`, is the id as the row of the task spells it: ids that the column takes for
 * equal, a UUID in capitals for instance, are one lease. It waits for a row of the lease table and for nothing else.
 *
 * Fails with `lost-race` (the task is in another stage), `task-not-found`, `lease-busy`, `not-granting` (draining,
 * closed, or the request's signal had fired), or `store-failure`; in each case nothing of yours was started. Under mode
 * `off` and out of scope the task is not looked at.
 *
 * @example
 * ```ts
 * import { acquireLease, releaseLease } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const lease = await acquireLease(ownership, { taskId: 1, actor: 'monitor', stage: 'deploy' });
 * if (lease.isOk()) await releaseLease(ownership, lease.value);
 * ```
 */
export function acquireLease<S extends Shape>(
  ownership: TransitionOwnership<S>,
  request: LeaseRequest<NoInfer<S>>,
): ResultAsync<
  Lease<S['taskId'], S['stage'], S['runId']>,
  LeaseBusy | LostRace<S['stage']> | TaskNotFound | NotGranting | StoreFailure
> {
  const context = contextOf(ownership);
  const checked = checkLeaseRequest(context, request);
  return neverReject(context.session, inFlight(context.running, acquire(context, checked)));
}

/** Why a lease was not granted. */
export type AcquireFailure<S extends Shape = Shape> =
  | LeaseBusy
  | LostRace<S['stage']>
  | TaskNotFound
  | NotGranting
  | StoreFailure;

/** The verb without its types: its caller waits until the signal of the request fires. */
export function acquire(context: Context, request: CheckedRequest): Promise<Result<Lease, AcquireFailure>> {
  const late = (result: Result<Lease, unknown>): void => {
    if (result.isOk()) void release(context, result.value);
  };
  const abandoning = { signal: request.signal, told: () => notGranting('aborted'), late };
  return abandonable(context, abandoning, (patient) => acquireNow(patient, request));
}

async function acquireNow(context: Context, request: CheckedRequest): Promise<Result<Lease, AcquireFailure>> {
  const refusal = refusalOf(context, request);
  if (refusal !== undefined) return err(refusal);
  const regime = regimeOf(context, request);
  if (regime === 'off') return ok(grantUnguarded(context, request, unguardedFor(context)));
  if (regime === 'draining') return err(notGranting('draining'));
  return regime === 'observe'
    ? acquireObserved(context, request, (patient) => acquireGuarded(patient, { ...request, proceedUnguarded: false }))
    : acquireGuarded(context, request);
}

/** Acquires under mode `on`. */
export async function acquireGuarded(
  context: Context,
  request: CheckedRequest,
): Promise<Result<Lease, AcquireFailure>> {
  const here = unguardedHere(context, request);
  if (here !== undefined) return err(here);
  const pending = enterClaim(context, request);
  const asked = suited(context, ['lease'], () => insertOrReclaim(context, pending));
  const acquired = await neverReject(context.session, asked);
  const tooLate = refusalOf(context, request);
  if (acquired.isOk()) {
    const refused = tooLate ?? overAlready(context, acquired.value);
    if (refused === undefined) return unlessHere(context, request, acquired.value);
    void (await release(context, acquired.value));
    return err(refused);
  }
  leaveClaim(context, pending.claim);
  if (tooLate !== undefined) return err(tooLate);
  if (acquired.error.type === 'store-failure' && request.proceedUnguarded) {
    return ok(grantUnguarded(context, request, 'store-failed'));
  }
  return acquired;
}

/**
 * 1. Insert the lease where the task is there, in the stage of the request, and free: the task is read in the same
 *    statement, and on PostgreSQL again, as of the latest commit, when the row is there.
 * 2. Inserted, and the task still in that stage: granted. Elsewhere by now: what was inserted is deleted, `lost-race`.
 * 3. No row, or none that was returned, or no one could look because the task's row is locked: read the task and its
 *    holder, in one statement.
 * 4. No task: `task-not-found`. In another stage: `lost-race`, whoever holds it. What may have been inserted is deleted.
 * 5. MySQL inserts without a look, for its lock on the task would be waited for: where the row spells its id in another
 *    way than the request, what was inserted is deleted, and step 1 goes on with that spelling.
 * 6. Our own claim: granted. A live or unknown holder: `lease-busy`. A dead one: reclaimed. Then step 1, a few times.
 */
async function insertOrReclaim(context: Context, pending: Pending): Promise<Result<Lease, AcquireFailure>> {
  const { request } = pending;
  if (isNoId(context, request.taskId)) return err(refuse(context, request, taskNotFound(request.taskId)));
  const keyed: Keyed = { pending, key: request.taskId };
  for (let tries = 1; tries <= maxTries(context); tries += 1) {
    const refusal = refusalOf(context, request);
    if (refusal !== undefined) return err(refusal);
    if (looksFirst(context)) {
      const before = await lookFirst(context, keyed);
      if (before.isErr()) return err(before.error);
      if (before.value !== undefined) return before.value;
    }
    const row = { ...insertParameters(context, pending), taskId: keyed.key };
    const query: LateQuery = () => context.acquisitions.take(row);
    const giveBack = () => giveBackLate(context, keyed);
    const sent = await insertWithin(context, { query, giveBack, signal: request.signal });
    const { answer: inserted, anchor } = sent;
    if (sent.givenUp && inserted.isErr()) return err(inserted.error);
    if (inserted.isErr() && saysNoId(context, inserted.error))
      return err(refuse(context, request, taskNotFound(request.taskId)));
    if (inserted.isErr()) return findOwn(context, keyed, inserted.error);
    const read = readTaken(context.session, context.settings.taskIdType, inserted.value);
    if (read.isErr()) return err(read.error);
    const [taken] = read.value;
    if (taken !== undefined) keyed.key = taken.taskId;
    if (taken?.seen) {
      const refused = unfit(request, taken.seen);
      if (refused === undefined && taken.seen.taskId === taken.taskId) {
        const granted = await grantFresh(context, keyed, { ...taken, ...taken.seen }, anchor);
        if (granted.isErr()) return err(granted.error);
        if (granted.value !== undefined) return granted.value;
        continue;
      }
      const undone = await undo(context, keyed);
      if (undone.isErr()) return err(undone.error);
      if (refused !== undefined) return err(refuse(context, request, refused));
      continue;
    }
    const mayHaveWritten = taken !== undefined || mayHaveInserted(inserted.value);
    const settled = await look(context, keyed, mayHaveWritten);
    if (settled.isErr()) return err(settled.error);
    if (settled.value !== undefined) return settled.value;
  }
  return err(leaseContended(request.taskId));
}

/** Reads the task and its holder, and what they make of the acquisition. */
async function look(context: Context, keyed: Keyed, mayHaveWritten: boolean): ReturnType<typeof settle> {
  const askedAt = anchorNow(context.ports.clock);
  const found = await findTask(context, keyed.pending.request, mayHaveWritten ? 'write' : 'look');
  if (found.isErr()) return err(mayHaveWritten ? ofUnknownOutcome(found.error) : found.error);
  return settle(context, keyed, found.value, { askedAt, mayHaveWritten });
}
