import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { leaseUnreadable, storeFailure } from '../core/fail.js';
import type { LeaseBusy, StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import type { Lease } from '../core/lease.js';
import type { Judged } from '../evidence/judge-holder.js';
import { lowerExpiry } from '../evidence/lower-expiry.js';
import { readJudgedOf } from '../evidence/read-holder.js';
import { reclaim } from '../evidence/reclaim.js';
import { anchorNow } from '../runtime/holding.js';
import { adopt, busy } from './acquire-lease.js';
import type { Pending } from './grant.js';

/** What became of one request of many. */
export type Outcome = Result<Lease, LeaseBusy>;

/** The claims that are to be inserted, by their tasks. */
export type Pendings = ReadonlyMap<IdValue, Pending>;

/** Looks at the holders of those that were not inserted: adopts our own, reclaims the dead, tells the busy. */
export async function settleOthers(
  context: Context,
  pendings: Pendings,
  outcomes: Map<IdValue, Outcome>,
): Promise<StoreFailure | undefined> {
  const open = [...pendings.keys()].filter((taskId) => !outcomes.has(taskId));
  if (open.length === 0) return undefined;
  const askedAt = anchorNow(context.ports.clock);
  const read = await readJudgedOf(context, open);
  if (read.isErr()) return read.error;
  for (const { taskId, claim } of read.value.unreadable) {
    const pending = taskId === null ? undefined : pendings.get(taskId);
    if (pending === undefined || taskId === null) continue;
    if (pending.claim === claim) return storeFailure(UNREADABLE);
    outcomes.set(taskId, err(leaseUnreadable(taskId)));
  }
  for (const judged of read.value.judged) {
    const pending = pendings.get(judged.holder.taskId);
    if (pending === undefined) continue;
    const outcome = outcomeOf(context, pending, judged, askedAt);
    if (outcome !== undefined) {
      if (outcome.isErr()) await lowerExpiry(context, judged);
      outcomes.set(pending.request.taskId, outcome);
    } else {
      const reclaimed = await reclaim(context, judged);
      if (reclaimed.isErr()) return reclaimed.error;
    }
  }
  return undefined;
}

/** What was inserted for us cannot be read, and has been told. */
const UNREADABLE = Object.freeze({
  kind: 'schema',
  retryable: false,
  outcome: 'unknown',
  cause: 'the row that was inserted cannot be read',
} as const);

function outcomeOf(
  context: Context,
  pending: Pending,
  judged: Judged,
  askedAt: ReturnType<typeof anchorNow>,
): Outcome | undefined {
  if (judged.holder.claim === pending.claim) return ok(adopt(context, pending, judged, askedAt));
  return judged.judgement.verdict === 'dead' ? undefined : err(busy(context, pending.request, judged));
}
