import type { Context } from '../context.js';
import { checkDuration } from '../core/duration.js';
import type { Json } from '../core/effect-result.js';
import type { IdValue } from '../core/id.js';
import type { Lease } from '../core/lease.js';
import { callable, given, optional, type RulesOf, requestOf, text } from '../core/request.js';
import { secretOf } from '../holding/lease-handle.js';
import type { Shape } from '../shape.js';
import type { EffectStatements } from '../sql/effect-statements.js';
import { idempotencyKeyOf } from '../system/idempotency-key.js';

/** What `apply` is handed for the outside system. */
export interface ApplyInput {
  /** The token of the lease; an outside system that refuses lower ones is fenced. `null` without a guarded lease. */
  readonly fencingToken: number | null;
  /** The same text at every try of this effect with this key, in every process: for systems that take one. */
  readonly idempotencyKey: string;
  /** Fires when the lease is lost. What is under way then can no longer be called back; start nothing more. */
  readonly signal: AbortSignal;
}

/** What a probe is asked about. */
export interface ProbeQuestion<S extends Shape = Shape> {
  /** The task. */
  readonly taskId: S['taskId'];
  /** The effect. */
  readonly effect: string;
  /** Which application of it. */
  readonly key: string;
  /** What `apply` gave, or would give, to the outside system. */
  readonly idempotencyKey: string;
  /** The token that it was started under; `null` if the journal has no start of it. */
  readonly fencingToken: number | null;
}

/** What the outside system says. */
export type ProbeAnswer = 'applied' | 'not-applied' | 'unknown';

/**
 * Asks the outside system whether an effect was applied.
 *
 * `not-applied` makes the effect happen (again): return it only if an earlier try can no longer arrive either.
 * One that throws, or returns anything else, does not know. A promise may be one of any string, for the compiler
 * takes `async () => 'applied'` for that.
 */
export type Probe<S extends Shape = Shape> = (question: ProbeQuestion<S>) => ProbeAnswer | PromiseLike<string>;

/** One irreversible step. */
export interface EffectRequest<S extends Shape = Shape, V extends Json | void = Json | void> {
  /** Which effect: `merge_pr`. At most 255 bytes. */
  readonly effect: string;
  /**
   * Which application of it: the SHA, the run. The second deploy after a rollback has another key. Name the
   * environment too if two of them share an outside system. At most 255 bytes.
   */
  readonly key: string;
  /** Asks the outside system; without one an effect of unknown outcome is held for an operator. */
  readonly probe?: Probe<S> | undefined;
  /**
   * Does it, once. Returns plain JSON, or nothing; throws `NotApplied` if it certainly did nothing. Whatever
   * else it throws means that no one knows.
   */
  readonly apply: (input: ApplyInput) => V | Promise<V>;
  /**
   * How much of the lease must be left when it starts, in ms, from 0 to the life that the lease was granted.
   * Default: a third of that. The lease is renewed first, and goes on being renewed meanwhile: this is how long
   * `apply` may run if every renewal from now on fails.
   */
  readonly needsMs?: number | undefined;
}

/** A probe whose result is yet to be looked at. */
export type AnyProbe = (question: ProbeQuestion) => unknown;

/** An effect after its check, with every default in its place. */
export interface CheckedEffect {
  readonly lease: Lease;
  readonly taskId: IdValue;
  readonly effect: string;
  readonly key: string;
  readonly probe: AnyProbe | undefined;
  readonly apply: (input: ApplyInput) => unknown;
  readonly needsMs: number;
}

const check = requestOf({
  effect: text,
  key: text,
  probe: optional(callable),
  apply: callable,
  needsMs: given,
} satisfies RulesOf<EffectRequest<Shape, Json>>);

/** Throws for an effect of the wrong shape, or one that nothing would guard, before any statement. */
export function checkEffect(context: Context, lease: Lease, request: unknown): CheckedEffect {
  if (context.session.inTransaction) {
    throw new TypeError('runEffect needs the ownership itself, not one made by using(trx)');
  }
  const secret = secretOf(lease, context.root);
  if (!secret.guarded && secret.reason === 'store-failed') {
    throw new TypeError('runEffect needs a lease with a row: this one was granted although the store failed');
  }
  if (secret.guarded) journalOf(context, 'runEffect');
  const grantedMs = lease.expiresAtMs - lease.acquiredAtMs;
  const { effect, key, probe, apply, needsMs = Math.floor(grantedMs / 3) } = check(request);
  checkDuration('needsMs', needsMs, 0, grantedMs);
  return { lease, taskId: lease.taskId, effect, key, probe, apply, needsMs };
}

/** The journal of an ownership; throws `TypeError` for one that keeps none. */
export function journalOf({ effects }: Context, verb: string): EffectStatements {
  if (effects === undefined) throw new TypeError(`${verb} needs an ownership with the option effects`);
  return effects;
}

/** The idempotency key of an effect of a task. */
export function idempotencyKey(
  { settings }: Context,
  { taskId, effect, key }: Pick<CheckedEffect, 'taskId' | 'effect' | 'key'>,
): string {
  const { effectTable, leaseTable } = settings;
  const { schema, table } = effectTable ?? { schema: leaseTable.schema, table: 'transition_effect' };
  return idempotencyKeyOf({ schema, table, taskId, effect, key });
}
