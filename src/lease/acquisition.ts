import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import {
  leaseBusy,
  leaseUnreadable,
  lostRace,
  notGranting,
  ofUnknownOutcome,
  storeFailure,
  taskNotFound,
} from '../core/fail.js';
import type { LeaseBusy, LostRace, NotGranting, StoreFailure, TaskNotFound } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import type { Lease } from '../core/lease.js';
import type { Anchor } from '../holding/anchor.js';
import type { FoundTask } from '../lease-row/find-task.js';
import type { Judged } from '../lease-row/judge-holder.js';
import { lowerExpiry } from '../lease-row/lower-expiry.js';
import { reclaim } from '../lease-row/reclaim.js';
import { execute, type Reply } from '../sql/execute.js';
import type { SeenTask } from '../sql/granted-rows.js';
import { grant, type Pending } from './grant.js';
import type { CheckedRequest } from './lease-request.js';

/** Why a task is not to be had, whoever holds it. */
export type Refused = LostRace<string | null> | TaskNotFound;

/** An acquisition under way, and the key that its lease is to have: the id as the row of the task spells it. */
export interface Keyed {
  readonly pending: Pending;
  key: IdValue;
}

/** How often a task that changes hands under our eyes is tried for. */
const MAX_TRIES = 4;
/** After a restore the tokens that come next may be those of rows that are there: each try takes the one after it. */
const MAX_TRIES_BEHIND = 64;

/** How often an acquisition is tried before it gives up. */
export function maxTries({ survey }: Context): number {
  return survey.columns.tokensBehind ? MAX_TRIES_BEHIND : MAX_TRIES;
}

/** Why nothing is granted whatever the rows say. */
export function refusalOf(context: Context, { signal }: CheckedRequest): NotGranting | undefined {
  if (context.closing.begun) return notGranting('closed');
  return signal?.aborted ? notGranting('aborted') : undefined;
}

/** True if rows of an insert may be there that it did not return: its reply was lost, or the database gives none. */
export function mayHaveInserted({ rows, count = 0n, repeated }: Reply): boolean {
  return repeated || count > BigInt(rows.length);
}

/** Why a task as it was found is not what the request asks for. */
export function unfit({ taskId, stage }: CheckedRequest, task: SeenTask | null): Refused | undefined {
  if (task === null) return taskNotFound(taskId);
  return stage === undefined || task.stage === stage ? undefined : lostRace(taskId, stage, task.stage);
}

/** Emits that a task is not what the request asks for. */
export function refuse({ observer }: Context, { actor }: CheckedRequest, refused: Refused): Refused {
  const taskId = jsonId(refused.taskId);
  if (refused.type === 'task-not-found') observer.emit('task.not-found', { taskId, actor });
  else observer.emit('stage.race-lost', { taskId, expected: refused.expected, actual: refused.actual });
  return refused;
}

/** Takes back what an acquisition of ours wrote: exactly that. Where it fails, the row may have been left to expire. */
export async function undo(context: Context, { pending, key }: Keyed): Promise<Result<void, StoreFailure>> {
  const deleted = await execute(context.session, context.leases.release({ taskId: key, claim: pending.claim }));
  return deleted.map(() => undefined).mapErr(ofUnknownOutcome);
}

/** What was inserted for us cannot be read, and that was reported. */
const UNREADABLE = Object.freeze({
  kind: 'schema',
  retryable: false,
  outcome: 'unknown',
  cause: 'the row that was inserted cannot be read',
} as const);

/**
 * What a task as it was found makes of an acquisition that has no row, or whose row was not seen. `undefined`: it is to
 * be tried again, for the task is free by now, or its lease has another key.
 */
export async function settle(
  context: Context,
  keyed: Keyed,
  found: FoundTask | null,
  { askedAt, mayHaveWritten }: { readonly askedAt: Anchor; readonly mayHaveWritten: boolean },
): Promise<Result<Result<Lease, LeaseBusy | Refused> | undefined, StoreFailure>> {
  const { request, claim } = keyed.pending;
  const refused = unfit(request, found);
  if (refused !== undefined || found === null || found.taskId !== keyed.key) {
    const undone = mayHaveWritten ? await undo(context, keyed) : ok(undefined);
    if (undone.isErr()) return err(undone.error);
    if (refused !== undefined) return ok(err(refuse(context, request, refused)));
    if (found !== null) keyed.key = found.taskId;
    return ok(undefined);
  }
  const { judged } = found;
  if (judged === null) return ok(undefined);
  if (!('judgement' in judged)) {
    return judged.claim === claim ? err(storeFailure(UNREADABLE)) : ok(err(leaseUnreadable(request.taskId)));
  }
  if (judged.holder.claim === claim) return ok(ok(adopt(context, keyed.pending, { ...found, judged }, askedAt)));
  if (judged.judgement.verdict !== 'dead') {
    await lowerExpiry(context, judged);
    return ok(err(busy(context, request, judged)));
  }
  return (await reclaim(context, judged)).map(() => undefined);
}

/**
 * Our own row, found by reading: its reply was lost, or the database gives none. No one renewed it yet, so the
 * time that it has stood there when it was read is spent: trust is anchored that long before we asked.
 */
function adopt(
  context: Context,
  pending: Pending,
  { judged: { holder, nowMs }, taskId, stage }: FoundTask & { readonly judged: Judged },
  askedAt: Anchor,
): Lease {
  const { claim, fencingToken } = holder;
  const { ttlMs, maxHoldMs } = pending.request;
  const acquiredAtMs = holder.acquiredAtMs ?? nowMs;
  const expiresAtMs = holder.expiresAtMs ?? acquiredAtMs + Math.min(ttlMs, maxHoldMs);
  const deadlineAtMs = holder.deadlineAtMs ?? acquiredAtMs + maxHoldMs;
  const spentMs = Math.max(0, nowMs - acquiredAtMs);
  const anchor = { monotonicMs: askedAt.monotonicMs - spentMs, wallMs: askedAt.wallMs - spentMs };
  const row = { claim, fencingToken, taskId, stage, acquiredAtMs, expiresAtMs, deadlineAtMs };
  return grant(context, pending, row, anchor);
}

/** Emits that another process holds the task. */
function busy({ observer }: Context, { taskId, actor }: CheckedRequest, { holder, judgement }: Judged): LeaseBusy {
  const { verdict, reason } = judgement;
  const { fencingToken } = holder;
  observer.emit('lease.busy', { taskId: jsonId(taskId), fencingToken, actor, verdict, reason });
  return leaseBusy(taskId, holder, judgement);
}
