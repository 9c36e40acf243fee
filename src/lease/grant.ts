import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { notGranting } from '../core/fail.js';
import type { LeaseLost } from '../core/failure.js';
import type { Lease } from '../core/lease.js';
import { Holding } from '../holding/holding.js';
import { LeaseHandle, type LeaseSecret } from '../holding/lease-handle.js';
import { LeaseLife } from '../holding/lease-life.js';
import { LeaseSignal } from '../holding/lease-signal.js';
import type { UnguardedHold } from '../holding/unguarded-holds.js';
import type { GrantedRow } from '../sql/granted-rows.js';
import type { InsertLease } from '../sql/lease-records.js';
import type { Fresh } from './freshen.js';
import { release } from './give-back.js';
import type { CheckedRequest } from './lease-request.js';

/** A claim that was entered in the registry before its statement is sent. */
export interface Pending {
  readonly request: CheckedRequest;
  readonly claim: string;
  readonly life: LeaseLife;
}

/** Makes the claim of an acquisition and enters it: a row that carries it is never taken for an orphan's. */
export function enterClaim(context: Context, request: CheckedRequest): Pending {
  const claim = context.ports.randomness.claim();
  const life = new LeaseLife({ provisional: context.session.inTransaction });
  context.claims.enter(claim, life.entry);
  return { request, claim, life };
}

/** Takes a claim out of the registry: whatever row carries it is an orphan's from now on. */
export function leaveClaim(context: Context, claim: string): void {
  context.claims.leave(claim);
}

/** The row of a pending acquisition. */
export function insertParameters({ ports }: Context, { request, claim }: Pending): InsertLease {
  const { pid, bootId, host, start } = ports.identity;
  const { taskId, actor, runId, stage, ttlMs, maxHoldMs } = request;
  const named = { stage: stage ?? null, anyStage: stage === undefined };
  return { claim, taskId, actor, pid, bootId, host, start, runId, ...named, ttlMs, maxHoldMs };
}

/** Makes the lease of a granted row; its instants are from before the statements were sent that wrote and renewed it. */
export function grant(
  context: Context,
  { request, life }: Pending,
  { row, acquired, verified }: Fresh<GrantedRow>,
): Lease {
  const { taskId: askedId, actor, runId, ttlMs, maxHoldMs, signal } = request;
  const { taskId, stage, claim, fencingToken, acquiredAtMs, expiresAtMs, deadlineAtMs } = row;
  const facts = { taskId, askedId, actor, claim, fencingToken, ttlMs, maxHoldMs, expiresAtMs };
  const onLost = ({ reason }: LeaseLost): void => {
    context.renewer.forsake(holding);
    const { heldMs } = holding;
    context.observer.emit('lease.lost', { taskId: jsonId(taskId), fencingToken, actor, reason, heldMs });
  };
  const holding: Holding = new Holding(facts, life, { clock: context.ports.clock, acquired, onLost });
  holding.verify(verified);
  holding.follow(signal);
  context.session.transaction?.written.add(taskId);
  context.renewer.keep(holding);
  context.observer.emit('lease.acquired', {
    taskId: jsonId(taskId),
    fencingToken,
    actor,
    guarded: true,
    provisional: life.provisional,
    stage,
    runId: runId === null ? null : jsonId(runId),
  });
  const secret: LeaseSecret = { guarded: true, holding, home: context.root, dispose: () => release(context, lease) };
  const times = { acquiredAtMs, expiresAtMs, deadlineAtMs };
  const lease: LeaseHandle = new LeaseHandle(
    { taskId, actor, stage, runId, claim, fencingToken, guarded: true, ...times },
    secret,
  );
  return Object.freeze(lease);
}

/** Why a request is not guarded that the kill switch or the scope lets pass. */
export function unguardedFor(context: Context): 'off' | 'out-of-scope' {
  return context.mode() === 'off' ? 'off' : 'out-of-scope';
}

/** Makes a lease without a row. */
export function grantUnguarded(context: Context, request: CheckedRequest, reason: UnguardedHold['reason']): Lease {
  const { taskId, actor, stage, runId, ttlMs, maxHoldMs } = request;
  const claim = context.ports.randomness.claim();
  const acquiredAtMs = context.ports.clock.wallMs();
  const told = {
    guarded: false,
    provisional: false,
    stage: stage ?? null,
    runId: runId === null ? null : jsonId(runId),
  };
  context.observer.emit('lease.acquired', { taskId: jsonId(taskId), fencingToken: null, actor, ...told });
  const facts = { taskId, actor, stage, runId, claim, fencingToken: null, guarded: false, acquiredAtMs };
  const times = { expiresAtMs: acquiredAtMs + ttlMs, deadlineAtMs: acquiredAtMs + maxHoldMs };
  // Nothing ends such a lease but its release, which may never come: no one keeps it before it is listened to.
  const signal = new LeaseSignal((asked) => {
    asked.follow(request.signal);
    if (context.closing.begun) asked.abort(notGranting('closed'));
    else context.unguarded.add(asked);
  });
  const lease: LeaseHandle = new LeaseHandle(
    { ...facts, ...times },
    {
      guarded: false,
      reason,
      claim,
      context: request.context,
      home: context.root,
      signal,
      released: false,
      dispose: () => release(context, lease),
    },
  );
  context.holds.begin(claim, { taskId, actor, stage, sinceMs: acquiredAtMs, reason }, lease);
  return Object.freeze(lease);
}
