import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { type Json, recordable } from '../core/effect-result.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { given, oneOf, type RulesOf, requestOf, taskId, text } from '../core/request.js';
import { ownSpelling } from '../lease-row/own-spelling.js';
import type { Shape } from '../shape.js';
import type { EffectStatements } from '../sql/effect-statements.js';
import { changed, execute } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import { suited } from '../survey/suited.js';
import { effectCallsOf } from '../system/effect-calls.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { journalOf } from './effect-request.js';
import { effectFacts, readEffect } from './journal.js';

/** What an operator saw in the outside system. */
export interface ResolveEffectRequest<S extends Shape> {
  /** The task. */
  readonly taskId: S['taskId'];
  /** The effect. */
  readonly effect: string;
  /** Which application of it. */
  readonly key: string;
  /** `applied`: it is never done again. `not-applied`: the next `runEffect` does it. */
  readonly outcome: 'applied' | 'not-applied';
  /** What later callers get as its result, for `applied`: plain JSON. Default `null`. */
  readonly result?: Json | undefined;
  /** Who says so. At most 255 bytes. */
  readonly by: string;
  /** Why. At most 255 bytes. */
  readonly reason: string;
}

const check = requestOf({
  taskId,
  effect: text,
  key: text,
  outcome: oneOf('applied', 'not-applied'),
  result: given,
  by: text,
  reason: text,
} satisfies RulesOf<ResolveEffectRequest<Shape>>);

/**
 * What became of an operator's word: it was written; the journal knew already that the effect was applied, and
 * keeps that; the journal has no start of such an effect; or another process is at it: its start changed at every try,
 * or this process has it under way, or knows its end and could not write it down.
 */
export type EffectResolution = 'resolved' | 'already-applied' | 'not-found' | 'under-way';

/**
 * Ends the hold on an effect of unknown outcome by the word of an operator, by compare-and-swap on its start.
 *
 * Look in the outside system first, and be sure that no one is applying the effect at this moment. A word that
 * the effect was not applied lets it be applied again; if its owner comes back all the same and says that it
 * was, the owner's word stands. Losing is not an error. Fails with `store-failure`. Works under every mode.
 * Throws `TypeError` without the option `effects`.
 *
 * @example
 * ```ts
 * import { resolveEffect } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const seen = { outcome: 'applied', by: 'ada', reason: 'the commit is on main' } as const;
 * const resolved = await resolveEffect(ownership, { taskId: 1, effect: 'merge_pr', key: '0b5a3f1', ...seen });
 * // ok('resolved'), or ok('not-found') if the journal has no such start
 * ```
 */
export function resolveEffect<S extends Shape>(
  ownership: TransitionOwnership<S>,
  request: ResolveEffectRequest<NoInfer<S>>,
): ResultAsync<EffectResolution, StoreFailure> {
  const context = contextOf(ownership);
  const effects = journalOf(context, 'resolveEffect');
  const resolving = check(request, context.settings);
  const result = checkResult(resolving.outcome, resolving.result);
  const work = () => resolve(context, effects, { ...resolving, result });
  return neverReject(context.session, suited(context, ['effects'], work));
}

function checkResult(outcome: Resolving['outcome'], result: unknown): string {
  if (outcome === 'not-applied' && result !== undefined) throw new TypeError('result is for the outcome "applied"');
  const made = recordable(result);
  if (made.is === 'refused') throw new TypeError(`result must be plain JSON: ${made.message}`);
  return made.text;
}

interface Resolving {
  readonly taskId: IdValue;
  readonly effect: string;
  readonly key: string;
  readonly outcome: 'applied' | 'not-applied';
  readonly result: string;
  readonly by: string;
  readonly reason: string;
}

/** A start that changes this often while we look belongs to someone who is at it. */
const MAX_TRIES = 3;

async function resolve(
  context: Context,
  effects: EffectStatements,
  resolving: Resolving,
): Promise<Result<EffectResolution, StoreFailure>> {
  const { outcome, by, reason } = resolving;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const read = await readSpelled(context, effects, resolving);
    if (read.isErr()) return err(read.error);
    const record = read.value;
    if (record === null) return ok('not-found');
    if (record.state === 'applied') return ok('already-applied');
    if (effectCallsOf(context.ports.identity).ended(record.claim) !== undefined) return ok('under-way');
    const took = await writeOutcome(context, effects, { ...resolving, taskId: record.taskId }, record.claim);
    if (took.isErr()) return err(took.error);
    if (!took.value) continue;
    const facts = effectFacts(resolving, record.fencingToken);
    context.observer.emit('operator.acted', { ...facts, action: 'resolve-effect', outcome, by, reason });
    if (outcome === 'applied') context.observer.emit('effect.applied', { ...facts, by: 'operator', unrecorded: null });
    return ok('resolved');
  }
  return ok('under-way');
}

/** The row of an effect: of the task as the operator spells it, else as its own row does. */
async function readSpelled(
  context: Context,
  effects: EffectStatements,
  named: Resolving,
): ReturnType<typeof readEffect> {
  const seen = await readEffect(context, effects, named);
  if (seen.isErr() || seen.value !== null) return seen;
  const own = await ownSpelling(context, named.taskId);
  if (own.isErr()) return err(own.error);
  return own.value === named.taskId ? seen : readEffect(context, effects, { ...named, taskId: own.value });
}

/** Writes what the operator saw over exactly the start that was read; false if that is no longer there. */
async function writeOutcome(
  { session }: Context,
  effects: EffectStatements,
  { taskId, effect, key, outcome, result }: Resolving,
  claim: string,
): Promise<Result<boolean, StoreFailure>> {
  const seen = { taskId, effect, key, claim };
  const query = outcome === 'applied' ? effects.mark({ ...seen, result }) : effects.retract(seen);
  return (await execute(session, query)).map((reply) => changed(session, reply) || reply.repeated);
}
