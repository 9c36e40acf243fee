import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { checkFunction, checkObject } from '../core/check.js';
import { decideEffect, decideTransition, type EffectDecision, type EffectRecord, stateOf } from '../core/effect.js';
import { type Json, readResult } from '../core/effect-result.js';
import type { StoreFailure } from '../core/failure.js';
import { checkId, type IdValue } from '../core/id.js';
import { list, object, optional, type Rule, type RulesOf, requestOf, text } from '../core/request.js';
import { ownSpelling } from '../lease-row/own-spelling.js';
import type { Shape } from '../shape.js';
import { readEffectRow } from '../sql/effect-rows.js';
import type { EffectStatements } from '../sql/effect-statements.js';
import { execute } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { askProbe } from './ask-probe.js';
import { type AnyProbe, journalOf, type Probe } from './effect-request.js';

/** Your probes, by the effects that they ask about. */
export type Probes<S extends Shape = Shape> = { readonly [effect: string]: Probe<S> };

/** Which application of which effect. */
export interface EffectName {
  /** The effect. */
  readonly effect: string;
  /** Which application of it. */
  readonly key: string;
}

/** What to ask, and about what. */
export interface AssessOptions<S extends Shape> {
  /** Asked about effects that are not known to be applied. Default: none, and what was started is held. */
  readonly probes?: Probes<S> | undefined;
  /** The effects that the transition is made of. Default: all that the journal has of the task. */
  readonly effects?: readonly EffectName[] | undefined;
}

const effectName = object({ effect: text, key: text } satisfies RulesOf<EffectName>);

/** The rule for probes, each under the name of its effect; they are kept as they are at this moment. */
export const probesRule: Rule<Readonly<Record<string, AnyProbe>>> = (name) => (value) => {
  checkObject(name, value);
  const probes = Object.entries<unknown>({ ...value });
  for (const [effect, probe] of probes) checkFunction(`${name}.${effect}`, probe);
  return Object.fromEntries(probes) as Readonly<Record<string, AnyProbe>>;
};

const check = requestOf(
  { probes: optional(probesRule), effects: optional(list(effectName)) } satisfies RulesOf<AssessOptions<Shape>>,
  'options',
);

/** One effect of a transition, with what to do about it. */
export interface AssessedEffect extends EffectName {
  readonly decision: EffectDecision;
  /** What the journal says. */
  readonly state: 'never-started' | 'started' | 'applied';
  /** Why it is held, where it is: one clause for people. */
  readonly message: string | null;
  /** The token of its start; `null` if the journal has none. */
  readonly fencingToken: number | null;
  /** Database time of its start, epoch ms; `null` if the journal has none. */
  readonly startedAtMs: number | null;
  /** The recorded result; `null` unless it is recorded as applied. */
  readonly result: Json;
}

/** What to do about a transition that was broken off. */
export interface Assessment {
  /** `hold` if any effect is held, else `redrive` if any must be done or there is none, else `converge`. */
  readonly decision: EffectDecision;
  readonly effects: readonly AssessedEffect[];
}

/**
 * Says what to do about a task whose transition was broken off: drive it again, go on as if it had been done,
 * or hold it and ask a person. Changes nothing; running the same handler again does the rest.
 *
 * The journal keeps the effects of all transitions of a task. Unless `effects` names those that this one is
 * made of, one that was applied for an earlier transition counts here too: then only `hold` and `redrive` say
 * something of this one. Judge a task that no one holds, or hold it yourself.
 *
 * Fails with `store-failure`. Throws `TypeError` without the option `effects`.
 *
 * @example
 * ```ts
 * import { assessTransition } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const effects = [{ effect: 'merge_pr', key: '0b5a3f1' }];
 * const assessed = await assessTransition(ownership, 1, { effects, probes: { merge_pr: () => 'not-applied' } });
 * assessed.map(({ decision }) => decision); // ok('redrive')
 * ```
 */
export function assessTransition<S extends Shape>(
  ownership: TransitionOwnership<S>,
  taskId: NoInfer<S>['taskId'],
  options: AssessOptions<NoInfer<S>> = {},
): ResultAsync<Assessment, StoreFailure> {
  const context = contextOf(ownership);
  const effects = journalOf(context, 'assessTransition');
  checkId('taskId', context.settings.taskIdType, taskId);
  const { probes, effects: names } = check(options);
  return neverReject(context.session, assess(context, effects, { taskId, probes, names }));
}

interface Assessing {
  readonly taskId: IdValue;
  readonly probes: Readonly<Record<string, AnyProbe>> | undefined;
  readonly names: readonly EffectName[] | undefined;
}

async function assess(
  context: Context,
  effects: EffectStatements,
  { taskId, probes, names }: Assessing,
): Promise<Result<Assessment, StoreFailure>> {
  const own = await ownSpelling(context, taskId);
  if (own.isErr()) return err(own.error);
  // Version 0.1.0 wrote the id as its request spelled it.
  const records: EffectRecord[] = [];
  for (const spelled of new Set([own.value, taskId])) {
    const read = await execute(context.session, effects.readOfTask({ taskId: spelled }));
    if (read.isErr()) return err(read.error);
    records.push(...read.value.rows.map((row) => readEffectRow(row, context.settings.taskIdType)));
  }
  const recordOf = ({ effect, key }: EffectName): EffectRecord | null =>
    records.find((record) => record.effect === effect && record.key === key) ?? null;
  const named = (names ?? records).map((name) => ({
    taskId,
    effect: name.effect,
    key: name.key,
    record: recordOf(name),
  }));
  return ok(await assessEffects(context, named, probes));
}

/** An effect to be assessed, with its row if it has one. */
export interface Assessable extends EffectName {
  readonly taskId: IdValue;
  readonly record: EffectRecord | null;
}

/** Assesses the effects of one transition, one after the other. */
export async function assessEffects(
  context: Context,
  assessable: readonly Assessable[],
  probes: Readonly<Record<string, AnyProbe>> | undefined,
): Promise<Assessment> {
  const effects: AssessedEffect[] = [];
  for (const each of assessable) effects.push(await assessEffect(context, each, probes));
  const decision = decideTransition(effects.map((effect) => effect.decision));
  return Object.freeze({ decision, effects: Object.freeze(effects) });
}

async function assessEffect(
  context: Context,
  { taskId, effect, key, record }: Assessable,
  probes: Readonly<Record<string, AnyProbe>> | undefined,
): Promise<AssessedEffect> {
  const state = stateOf(record);
  const probe = probes !== undefined && Object.hasOwn(probes, effect) ? probes[effect] : undefined;
  const asked = await askProbe(context, state === 'applied' ? undefined : probe, { taskId, effect, key }, record);
  const decision = decideEffect(state, asked.evidence);
  return Object.freeze({
    effect,
    key,
    decision,
    state,
    message: decision === 'hold' ? asked.message : null,
    fencingToken: record === null ? null : record.fencingToken,
    startedAtMs: record === null ? null : record.startedAtMs,
    result: record === null ? null : readResult(record.result),
  });
}
