import type { Context } from '../context.js';
import type { IdValue } from '../core/id.js';
import {
  duration,
  given,
  nullable,
  oneOf,
  optional,
  type RulesOf,
  requestOf,
  runId,
  signal,
  stage,
  taskId,
  text,
} from '../core/request.js';
import { checkRenewals, MIN_TTL_MS } from '../core/timing.js';
import type { ContextOf, Shape } from '../shape.js';

/** Who asks: one of the usual actors, or a name of your own. */
export type Actor = 'monitor' | 'reaper' | 'reconciler' | 'webhook' | 'finalizer' | (string & {});

/** A request for the lease on a task's transition. */
export type LeaseRequest<S extends Shape> = LeaseAsked<S> & ContextOf<S>;

/** Such a request without what its `scope` decides by. */
export interface LeaseAsked<S extends Shape> {
  /** The task whose transition is to be owned. */
  readonly taskId: S['taskId'];
  /** Who asks; two actors of one process are two contenders. At most 255 bytes. */
  readonly actor: Actor;
  /**
   * The stage that the task must be in, whoever holds it: else `lost-race`. `null` is a value. Left out, the task may be
   * in any, and the lease says in which it is. The fenced stage write expects it by default.
   */
  readonly stage?: S['stage'] | undefined;
  /** The run in whose context this happens. */
  readonly runId?: S['runId'] | null | undefined;
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

/** What a request for a lease may say. */
const check = requestOf({
  taskId,
  actor: text,
  stage: optional(nullable(stage)),
  runId: optional(nullable(runId), null),
  context: given,
  ttlMs: optional(duration(MIN_TTL_MS)),
  maxHoldMs: optional(duration()),
  signal: optional(signal),
  ifStoreFails: optional(oneOf('refuse', 'proceed-unguarded'), 'refuse'),
} satisfies RulesOf<LeaseRequest<Shape>>);

/** Throws for a request of the wrong shape, before any statement. */
export function checkLeaseRequest({ settings }: Context, request: unknown): CheckedRequest {
  const { timing } = settings;
  const checked = check(request, settings);
  const { taskId, actor, stage, runId, context, signal } = checked;
  const { ttlMs = timing.ttlMs, maxHoldMs = timing.maxHoldMs } = checked;
  checkRenewals(ttlMs, timing.renewEveryMs);
  const proceedUnguarded = checked.ifStoreFails === 'proceed-unguarded';
  return { taskId, actor, stage, runId, context, ttlMs, maxHoldMs, signal, proceedUnguarded };
}
