import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf, regimeOf } from '../context.js';
import { jsonId } from '../core/event.js';
import { leaseBusy, leaseContended, notGranting, ofUnknownOutcome } from '../core/fail.js';
import type { LeaseBusy, NotGranting, StoreFailure } from '../core/failure.js';
import type { Lease } from '../core/lease.js';
import type { Judged } from '../evidence/judge-holder.js';
import { lowerExpiry } from '../evidence/lower-expiry.js';
import { readJudged } from '../evidence/read-holder.js';
import { reclaim } from '../evidence/reclaim.js';
import { type Anchor, anchorNow } from '../runtime/holding.js';
import { underWay } from '../runtime/under-way.js';
import type { Shape } from '../shape.js';
import { answered } from '../sql/answered.js';
import { type Answer, execute, type Row } from '../sql/execute.js';
import { demandInteger, readRows, readText } from '../sql/rows.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import {
  enterClaim,
  type GrantedRow,
  grant,
  grantUnguarded,
  insertParameters,
  leaveClaim,
  type Pending,
} from './grant.js';
import type { LeaseOf } from './lease-of.js';
import { type CheckedRequest, checkLeaseRequest, type LeaseRequest } from './lease-request.js';
import { release } from './release-lease.js';

/** How often a task that changes hands under our eyes is tried for. */
const MOST_TRIES = 4;
/** After a restore the tokens that come next may be those of rows that are there: each try takes the one after it. */
const MOST_TRIES_BEHIND = 64;

/** How often an acquisition is tried before it gives up. */
export function mostTries({ survey }: Context): number {
  return survey.columns.tokensBehind ? MOST_TRIES_BEHIND : MOST_TRIES;
}

/**
 * Takes the durable lease on a task's transition: one INSERT when the task is free.
 *
 * A held task is judged: a live or unknown owner is `lease-busy`; a dead one is reclaimed, exactly the
 * acquisition that was judged, and the insert is tried again. There is no re-entrancy: two actors of one
 * process are two contenders. On an ownership made by `using(trx)` the lease is provisional until the
 * transaction is seen committed.
 *
 * Fails with `lease-busy`, `not-granting` (draining, closed, or the request's signal had fired), or
 * `store-failure`; in each case nothing of yours was started.
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
): ResultAsync<LeaseOf<S>, LeaseBusy | NotGranting | StoreFailure> {
  const context = contextOf(ownership);
  const checked = checkLeaseRequest(context, request);
  return answered(context.session, underWay(context.running, acquire(context, checked)));
}

/** The verb without its types. */
export async function acquire(
  context: Context,
  request: CheckedRequest,
): Promise<Result<Lease, LeaseBusy | NotGranting | StoreFailure>> {
  const refusal = refusalOf(context, request);
  if (refusal !== undefined) return err(refusal);
  const regime = regimeOf(context, request);
  if (regime === 'off') return ok(grantUnguarded(context, request, 'off'));
  if (regime === 'draining') return err(notGranting('draining'));

  const pending = enterClaim(context, request);
  const asked = suited(context, ['lease'], () => insertOrReclaim(context, pending));
  const acquired = await answered(context.session, asked);
  if (acquired.isOk()) {
    const tooLate = refusalOf(context, request);
    if (tooLate === undefined) return acquired;
    void (await release(context, acquired.value));
    return err(tooLate);
  }
  leaveClaim(context, pending.claim);
  if (acquired.error.type === 'store-failure' && request.proceedUnguarded) {
    return ok(grantUnguarded(context, request, 'store-failed'));
  }
  return acquired;
}

/** Why nothing is granted whatever the row says. */
export function refusalOf(context: Context, { signal }: CheckedRequest): NotGranting | undefined {
  if (context.closing.begun) return notGranting('closed');
  return signal?.aborted ? notGranting('aborted') : undefined;
}

async function insertOrReclaim(
  context: Context,
  pending: Pending,
): Promise<Result<Lease, LeaseBusy | NotGranting | StoreFailure>> {
  const { request, claim } = pending;
  const parameters = insertParameters(context, pending);
  for (let tries = 1; tries <= mostTries(context); tries += 1) {
    const refusal = refusalOf(context, request);
    if (refusal !== undefined) return err(refusal);
    const anchor = anchorNow(context.ports.clock);
    const inserted = await execute(context.session, context.leases.insert(parameters));
    if (inserted.isErr()) return findOwn(context, pending, inserted.error);
    const granted = readGranted(context, inserted.value);
    if (granted.isErr()) return err(granted.error);
    const [row] = granted.value;
    if (row !== undefined) return ok(grant(context, pending, row, anchor));

    const askedAt = anchorNow(context.ports.clock);
    const read = await readJudged(context, request.taskId);
    if (read.isErr()) return err(mayHaveInserted(inserted.value) ? ofUnknownOutcome(read.error) : read.error);
    const judged = read.value;
    if (judged === null) continue;
    if (judged.holder.claim === claim) return ok(adopt(context, pending, judged, askedAt));
    if (judged.judgement.verdict !== 'dead') {
      await lowerExpiry(context, judged);
      return err(busy(context, request, judged));
    }
    const reclaimed = await reclaim(context, judged);
    if (reclaimed.isErr()) return err(reclaimed.error);
  }
  return err(leaseContended(request.taskId));
}

/** True if rows of an insert may be there that it did not answer: its reply was lost, or the database gives none. */
export function mayHaveInserted({ rows, count = 0n, repeated }: Answer): boolean {
  return repeated || count > BigInt(rows.length);
}

/** A broken insert may have left its row all the same: the claim tells. */
async function findOwn(
  context: Context,
  pending: Pending,
  failure: StoreFailure,
): Promise<Result<Lease, StoreFailure>> {
  if (failure.outcome !== 'unknown' || context.session.inTransaction) return err(failure);
  const askedAt = anchorNow(context.ports.clock);
  const read = await readJudged(context, pending.request.taskId);
  const judged = read.unwrapOr(null);
  return judged?.holder.claim === pending.claim ? ok(adopt(context, pending, judged, askedAt)) : err(failure);
}

/** The facts of the inserted rows. */
export function readGranted({ session }: Context, answer: Answer): Result<readonly GrantedRow[], StoreFailure> {
  const read = (row: Row): GrantedRow => ({
    claim: readText(row['claim']) ?? '',
    fencingToken: demandInteger(row, 'fencing_token'),
    acquiredAtMs: demandInteger(row, 'acquired_ms'),
    expiresAtMs: demandInteger(row, 'expires_ms'),
    deadlineAtMs: demandInteger(row, 'deadline_ms'),
  });
  return readRows(session, answer, read, 'unknown');
}

/**
 * Our own row, found by reading: its reply was lost, or the database gives none. Nobody renewed it yet, so the
 * time that it has stood there when it was read is spent: trust is anchored that long before we asked.
 */
export function adopt(context: Context, pending: Pending, { holder, nowMs }: Judged, askedAt: Anchor): Lease {
  const { fencingToken } = holder;
  const { ttlMs, maxHoldMs } = pending.request;
  const acquiredAtMs = holder.acquiredAtMs ?? nowMs;
  const row = {
    claim: pending.claim,
    fencingToken,
    acquiredAtMs,
    expiresAtMs: holder.expiresAtMs ?? acquiredAtMs + Math.min(ttlMs, maxHoldMs),
    deadlineAtMs: holder.deadlineAtMs ?? acquiredAtMs + maxHoldMs,
  };
  const spentMs = Math.max(0, nowMs - acquiredAtMs);
  const anchor = { monotonicMs: askedAt.monotonicMs - spentMs, wallMs: askedAt.wallMs - spentMs };
  return grant(context, pending, row, anchor);
}

/** Tells that somebody else holds the task. */
export function busy(context: Context, { taskId, actor }: CheckedRequest, { holder, judgement }: Judged): LeaseBusy {
  const { verdict, reason } = judgement;
  context.observer.tell('lease.busy', {
    taskId: jsonId(taskId),
    fencingToken: holder.fencingToken,
    actor,
    verdict,
    reason,
  });
  return leaseBusy(taskId, holder, judgement);
}
