import type { Context } from '../context.js';
import { checkDuration } from '../core/duration.js';
import { checkId, checkText, type IdValue } from '../core/id.js';
import { shown } from '../core/shown.js';
import { checkTiming } from '../core/timing.js';
import type { Shape } from '../shape.js';

/** Who asks: one of the usual actors, or a name of your own. */
export type Actor = 'monitor' | 'reaper' | 'reconciler' | 'webhook' | 'finalizer' | (string & {});

/** A request for the lease on a task's transition. */
export interface LeaseRequest<S extends Shape> {
  /** The task whose transition is to be owned. */
  readonly taskId: S['taskId'];
  /** Who asks; two actors of one process are two contenders. At most 255 bytes. */
  readonly actor: Actor;
  /** The stage that the caller read; the fenced stage write expects it by default. Taking the lease does not check it. */
  readonly stage?: S['stage'] | undefined;
  /** The run in whose context this happens. */
  readonly runId?: S['runId'] | null | undefined;
  /** Whatever `scope` needs to decide, the task's repository for instance. */
  readonly context?: unknown;
  /** Life of the lease after each renewal, in ms. Default: the ownership's; at least 3 × `renewEveryMs`. */
  readonly ttlMs?: number | undefined;
  /** Hard bound of this hold, in ms. Default: the ownership's. */
  readonly maxHoldMs?: number | undefined;
  /** Gives up asking when it fires, and fires the signal of the lease. */
  readonly signal?: AbortSignal | undefined;
  /**
   * What a store in trouble means. Default `'refuse'`: no lease. `'proceed-unguarded'`: a lease without a
   * row, for reversible transitions on a hot path; `runEffect` refuses it.
   */
  readonly ifStoreFails?: 'refuse' | 'proceed-unguarded' | undefined;
}

/** A request after its check, with every default in its place. */
export interface CheckedRequest {
  readonly taskId: IdValue;
  readonly actor: string;
  readonly stage: string | null | undefined;
  readonly runId: IdValue | null;
  readonly context: unknown;
  readonly ttlMs: number;
  readonly maxHoldMs: number;
  readonly signal: AbortSignal | undefined;
  readonly proceedUnguarded: boolean;
}

/** Refuses a request of the wrong shape, before any statement. */
export function checkLeaseRequest({ settings }: Context, request: LeaseRequest<Shape>): CheckedRequest {
  if (typeof request !== 'object' || request === null)
    throw new TypeError(`request must be an object, got ${shown(request)}`);
  const { taskId, actor, stage, runId, context, signal, ifStoreFails = 'refuse' } = request;
  const { ttlMs = settings.timing.ttlMs, maxHoldMs = settings.timing.maxHoldMs } = request;
  checkId('taskId', settings.taskIdType, taskId);
  checkText('actor', actor);
  if (stage !== undefined && stage !== null) checkText('stage', stage, 0);
  if (runId !== undefined && runId !== null) checkId('runId', settings.runIdType, runId);
  checkTiming({ ...settings.timing, ttlMs });
  checkDuration('maxHoldMs', maxHoldMs);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError(`signal must be an AbortSignal, got ${shown(signal)}`);
  }
  if (ifStoreFails !== 'refuse' && ifStoreFails !== 'proceed-unguarded') {
    throw new RangeError(`ifStoreFails must be "refuse" or "proceed-unguarded", got ${shown(ifStoreFails)}`);
  }
  const proceedUnguarded = ifStoreFails === 'proceed-unguarded';
  return { taskId, actor, stage, runId: runId ?? null, context, ttlMs, maxHoldMs, signal, proceedUnguarded };
}
