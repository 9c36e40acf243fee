import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import {
  leaseBusy,
  leaseLocked,
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
import { type Anchor, anchorNow } from '../holding/anchor.js';
import { secretOf } from '../holding/lease-handle.js';
import { type FoundTask, findTask } from '../lease-row/find-task.js';
import type { Judged } from '../lease-row/judge-holder.js';
import { lookingBriefly } from '../lease-row/looking.js';
import { lowerExpiry } from '../lease-row/lower-expiry.js';
import { reclaim } from '../lease-row/reclaim.js';
import { execute, type Reply } from '../sql/execute.js';
import type { GrantedRow, SeenTask } from '../sql/granted-rows.js';
import { freshen } from './freshen.js';
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
): Promise<Settled> {
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
  if (judged.holder.claim === claim) return adopt(context, keyed, { ...found, judged }, askedAt);
  if (judged.judgement.verdict !== 'dead') {
    await lowerExpiry(context, judged);
    return ok(err(busy(context, request, judged)));
  }
  const reclaimed = await reclaim(context, judged);
  if (reclaimed.isErr()) return err(reclaimed.error);
  return ok(reclaimed.value === 'locked' ? err(locked(context, request, judged)) : undefined);
}

/**
 * Our own row, found by reading: its reply was lost, or the database gives none. No one renewed it yet, so the
 * time that it has stood there when it was read is spent: trust is anchored that long before we asked.
 */
function adopt(
  context: Context,
  keyed: Keyed,
  { judged: { holder, nowMs }, taskId, stage }: FoundTask & { readonly judged: Judged },
  askedAt: Anchor,
): Promise<Settled> {
  const { claim, fencingToken } = holder;
  const { ttlMs, maxHoldMs } = keyed.pending.request;
  const acquiredAtMs = holder.acquiredAtMs ?? nowMs;
  const expiresAtMs = holder.expiresAtMs ?? acquiredAtMs + Math.min(ttlMs, maxHoldMs);
  const deadlineAtMs = holder.deadlineAtMs ?? acquiredAtMs + maxHoldMs;
  const spentMs = Math.max(0, nowMs - acquiredAtMs);
  const since = { monotonicMs: askedAt.monotonicMs - spentMs, wallMs: askedAt.wallMs - spentMs };
  const row = { claim, fencingToken, taskId, stage, acquiredAtMs, expiresAtMs, deadlineAtMs };
  return grantFresh(context, keyed, row, since);
}

/** Grants a row of ours with all its time before it; `undefined` if it is gone, and the task to be tried for again. */
export async function grantFresh(
  context: Context,
  keyed: Keyed,
  row: GrantedRow,
  since: Anchor,
): Promise<Result<Result<Lease, never> | undefined, StoreFailure>> {
  const fresh = await freshen(context, row, { ttlMs: keyed.pending.request.ttlMs, since });
  if (fresh.isErr()) return err(fresh.error);
  if (fresh.value !== undefined) return ok(ok(grant(context, keyed.pending, fresh.value)));
  return (await undo(context, keyed)).map(() => undefined);
}

/** What a look makes of an acquisition; `undefined` if it is to be tried again. */
type Settled = Result<Result<Lease, LeaseBusy | Refused> | undefined, StoreFailure>;

/**
 * Looks before the INSERT in a transaction of the caller's whose INSERT would leave a lock on the row of a holder; what
 * may be free by then is asked of the INSERT, for it alone sees what the transaction itself has done.
 */
export async function lookFirst(context: Context, keyed: Keyed): Promise<Settled> {
  const askedAt = anchorNow(context.ports.clock);
  const found = await findTask(lookingBriefly(context), keyed.pending.request, 'look');
  if (found.isErr() || found.value === null || found.value.judged === null) return ok(undefined);
  return settle(context, keyed, found.value, { askedAt, mayHaveWritten: false });
}

/** True in a caller's transaction where who loses by an INSERT holds a lock until that ends. */
export function looksFirst({ session }: Context): boolean {
  return session.transaction !== undefined && session.dialect.transactionLevel !== undefined;
}

/** Emits that the row of a dead holder is locked: nobody waits for whoever has it so. */
function locked({ observer }: Context, { taskId, actor }: CheckedRequest, { holder }: Judged): LeaseBusy {
  const facts = { taskId: jsonId(taskId), fencingToken: holder.fencingToken, actor };
  observer.emit('lease.busy', { ...facts, verdict: 'unknown', reason: 'locked' });
  return leaseLocked(taskId, holder);
}

/** Emits that another process holds the task. */
function busy({ observer }: Context, { taskId, actor }: CheckedRequest, { holder, judgement }: Judged): LeaseBusy {
  const { verdict, reason } = judgement;
  const { fencingToken } = holder;
  observer.emit('lease.busy', { taskId: jsonId(taskId), fencingToken, actor, verdict, reason });
  return leaseBusy(taskId, holder, judgement);
}

/** A lease that is lost before its caller has it is none. */
export function overAlready(context: Context, lease: Lease): StoreFailure | undefined {
  const secret = secretOf(lease, context.root);
  const lost = secret.guarded ? secret.holding.check() : undefined;
  return lost && storeFailure({ kind: 'busy', retryable: true, outcome: 'not-applied', cause: lost });
}
