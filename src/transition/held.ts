import type { ResultAsync } from 'neverthrow';
import type { Context } from '../context.js';
import type { Json } from '../core/effect-result.js';
import type {
  IllegalTransition,
  LeaseBusy,
  LeaseLost,
  LostRace,
  NotEnoughTime,
  StoreFailure,
  TaskNotFound,
} from '../core/failure.js';
import { inspectValue } from '../core/inspect-value.js';
import type { Lease } from '../core/lease.js';
import { given, type RulesOf, requestOf } from '../core/request.js';
import type { EffectFailure, EffectOutcome } from '../effect/effect-outcome.js';
import { checkEffect, type EffectRequest } from '../effect/effect-request.js';
import { run } from '../effect/run-effect.js';
import { LeaseHandle, secretOf } from '../holding/lease-handle.js';
import { checkEnsure, ensure } from '../lease-row/ensure-lease.js';
import { checkExtend, extend } from '../lease-row/extend-lease.js';
import type { Shape } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import type { StageMoved } from '../stage/stage-change.js';
import { checkStageWrite } from '../stage/stage-request.js';
import { writeStage } from '../stage/update-stage-cas.js';
import type { CallersHandle } from '../transition-ownership.js';

/** What a fenced stage write may say besides the next stage. */
export interface HeldStageWrite<S extends Shape> {
  /** The stage that the task must be in. Default: the stage that the request for the lease named. */
  readonly expected?: S['stage'] | undefined;
  /** Further columns of the task to set in the same UPDATE. */
  readonly set?: Partial<S['taskSet']> | undefined;
  /** Gives the lease back in the same commit: nothing can be fenced after it. */
  readonly release?: boolean | undefined;
  /** Ends the wait when it fires, as in `updateStageCas`. */
  readonly signal?: AbortSignal | undefined;
}

/** The lease as a handler gets it, with the verbs that are bound to it. */
export interface Held<S extends Shape = Shape> extends Lease<S['taskId'], S['stage'], S['runId']> {
  /**
   * Verifies in the database that the lease is held with at least `ms` left, renewing it: call it right
   * before an irreversible step. Fails with `lease-lost`, `not-enough-time` or `store-failure`.
   *
   * Over a transaction, by {@link Held.using}, the row is locked against others until your transaction ends, and not
   * renewed: what a rollback may take back is no renewal.
   */
  ensure(ms: number): ResultAsync<Lease<S['taskId'], S['stage'], S['runId']>, LeaseLost | NotEnoughTime | StoreFailure>;
  /**
   * Lets the hold last up to `maxHoldMs` ms from its acquisition, where that is longer than planned, and renews it: one
   * fenced UPDATE. At least the present bound, at most a year; the deadline of the lease that it resolves to is the new one.
   *
   * Call it before the bound: a hold that is over is not revived. Fails with `lease-lost` or `store-failure`, and then the
   * old bound stands. Throws `RangeError` for a bound that would shorten the hold, and `TypeError` on a transaction. It
   * outgrows `maxRunningMs` of a job reaper without a word.
   *
   * @example
   * ```ts
   * import { withTransitionLease } from 'transition-ownership';
   * import { ownership } from './setup.js';
   *
   * await withTransitionLease(ownership, { taskId: 1, actor: 'deployer' }, async (held) => {
   *   const longer = await held.extend(2 * 60 * 60 * 1000);
   *   return longer.isOk() ? 'go on' : 'stop here';
   * });
   * ```
   */
  extend(maxHoldMs: number): ResultAsync<Lease<S['taskId'], S['stage'], S['runId']>, LeaseLost | StoreFailure>;
  /** Moves the task to `next`, fenced by this lease. */
  updateStage(
    next: S['stage'],
    write?: HeldStageWrite<S>,
  ): ResultAsync<
    StageMoved<S['taskId'], S['stage']>,
    LostRace<S['stage']> | LeaseBusy | LeaseLost | TaskNotFound | IllegalTransition | StoreFailure
  >;
  /** Runs one irreversible step under this lease, as `runEffect` does. */
  runEffect<V extends Json | void>(request: EffectRequest<S, V>): ResultAsync<EffectOutcome<V>, EffectFailure<V>>;
  /**
   * The same lease with its verbs on a transaction of yours, or on a connection of `db.connection()`: `updateStage`
   * then commits with your own rows, and `ensure` goes over the connection that you hold. On a database with one
   * connection, such as SQLite, every verb inside `db.transaction()` must go this way, for the outer ones wait for
   * that connection.
   *
   * `runEffect` throws `TypeError` on a transaction: an irreversible step never hangs on a row that may be rolled back.
   * Throws `TypeError` for a handle on another schema than the ownership's.
   *
   * @example
   * ```ts
   * import { withTransitionLease } from 'transition-ownership';
   * import { db, ownership } from './setup.js';
   *
   * const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' } as const;
   * await withTransitionLease(ownership, request, (held) =>
   *   db.transaction().execute(async (trx) => {
   *     await trx.updateTable('tasks').set({ updated_at: null }).where('id', '=', 2).execute();
   *     const moved = await held.using(trx).updateStage('done');
   *     if (moved.isErr()) throw new Error(moved.error.message); // rolls the row of yours back
   *     return moved.value;
   *   }),
   * );
   * ```
   */
  using(db: CallersHandle): Held<S>;
}

const checkWrite = requestOf(
  { expected: given, set: given, release: given, signal: given } satisfies RulesOf<HeldStageWrite<Shape>>,
  'write',
);

class HeldHandle extends LeaseHandle implements Held {
  readonly ensure: Held['ensure'];
  readonly extend: Held['extend'];
  readonly updateStage: Held['updateStage'];
  readonly runEffect: Held['runEffect'];
  readonly using: Held['using'];

  constructor(context: Context, lease: Lease) {
    super(lease, secretOf(lease, context.root));
    this.ensure = (ms) => {
      checkEnsure(ms);
      return neverReject(context.session, ensure(context, lease, ms));
    };
    this.extend = (maxHoldMs) => {
      checkExtend(context, lease, maxHoldMs);
      return neverReject(context.session, extend(context, lease, maxHoldMs));
    };
    this.updateStage = (next, write = {}) => {
      const { expected = lease.stage, set, release, signal } = checkWrite(write);
      if (expected === undefined) {
        throw new TypeError(`expected is missing: the lease on task ${inspectValue(lease.taskId)} named no stage`);
      }
      const request = { taskId: lease.taskId, expected, next, lease, set, release, signal };
      return neverReject(context.session, writeStage(context, checkStageWrite(context, request)));
    };
    this.runEffect = <V extends Json | void>(request: EffectRequest<Shape, V>) =>
      run(context, checkEffect(context, lease, request)) as ResultAsync<EffectOutcome<V>, EffectFailure<V>>;
    this.using = (handle) => hold(context.using(handle), lease);
  }
}

/** Binds the verbs to a lease. */
export function hold(context: Context, lease: Lease): Held {
  return Object.freeze(new HeldHandle(context, lease));
}
