import { err, ok, type Result } from 'neverthrow';
import type { EffectRecord } from '../core/effect.js';
import type { Json } from '../core/effect-result.js';
import { effectFailed, effectUnknown, effectUnrecorded, reasonOf, withValue } from '../core/fail.js';
import type { EffectUnrecorded, StoreFailure } from '../core/failure.js';
import { execute } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import type { EndedCall } from '../system/effect-calls.js';
import { type ApplyEnd, callApply } from './call-apply.js';
import type { EffectFailure, EffectOutcome } from './effect-outcome.js';
import { effectFacts, writeEffect } from './journal.js';
import { refusalOf, type Starting } from './start-effect.js';

type Ended = EndedCall<Result<EffectOutcome, EffectFailure>>;

/** Applies an effect whose start is written, and writes down what became of it. */
export async function applyStarted(starting: Starting, record: EffectRecord): Promise<Ended> {
  const { context, request, holding } = starting;
  const facts = effectFacts(request, holding.facts.fencingToken);
  context.observer.emit('effect.started', facts);
  // The statement may have taken longer than the lease is trusted for.
  const refusal = refusalOf(holding);
  if (refusal !== undefined) return retract(starting, refusal);
  const end = await callApply(context, request);
  if (end.is === 'applied') return finish(starting, end);
  if (end.is === 'not-applied') return retract(starting, effectFailed(end.cause));

  const { taskId, effect, key } = request;
  const { cause } = end;
  const unknown = { taskId, effect, key, since: record.startedAtMs, cause };
  const failure = effectUnknown(unknown, `its apply threw: ${reasonOf(cause)}`);
  context.observer.emit('effect.unknown', { ...facts, message: failure.message });
  return { known: { is: 'written', failure }, answer: err(failure) };
}

/** Certainly nothing was done: takes the start back. */
async function retract({ context, effects, request, claim }: Starting, failure: EffectFailure): Promise<Ended> {
  const { taskId, effect, key } = request;
  const struck = await execute(context.session, effects.retract({ taskId, effect, key, claim }));
  const shared = failure.type === 'effect-failed' ? { failure } : {};
  return { known: struck.isOk() ? { is: 'written', ...shared } : { is: 'not-applied' }, answer: err(failure) };
}

/** It was done: writes the result down, whatever became of the lease meanwhile. */
async function finish(starting: Starting, end: Extract<ApplyEnd, { is: 'applied' }>): Promise<Ended> {
  const { context, request, holding } = starting;
  const { text, value, unrecorded } = end;
  const facts = effectFacts(request, holding.facts.fencingToken);
  const written = await writeResult(starting, text);
  if (written.isOk() && written.value) {
    context.observer.emit('effect.applied', { ...facts, by: 'apply', unrecorded });
    const outcome = { status: 'applied', value, ...(unrecorded !== null && { unrecorded }) } as const;
    return { known: { is: 'written' }, answer: ok(Object.freeze(outcome)) };
  }
  if (written.isErr()) {
    return { known: { is: 'applied', result: text }, answer: unrecordedIn(starting, value, written.error) };
  }
  const message = 'It was applied by an owner whom another has superseded, and who has started it too.';
  context.observer.emit('effect.unknown', { ...facts, message });
  return { known: { is: 'written' }, answer: err(withValue(holding.lose('superseded'), value)) };
}

/** It was done, and the journal could not be written. */
export function unrecordedIn(
  { context, request, holding }: Starting,
  value: Json,
  cause: StoreFailure,
): Result<never, EffectUnrecorded> {
  const { taskId, effect, key } = request;
  const failure = effectUnrecorded({ taskId, effect, key, value, cause });
  const facts = effectFacts(request, holding.facts.fencingToken);
  context.observer.emit('effect.unrecorded', { ...facts, message: failure.message });
  return err(failure);
}

/** Writes the result under our claim; true unless another process has started the effect meanwhile. */
export function writeResult(starting: Starting, result: string): PromiseLike<Result<boolean, StoreFailure>> {
  return neverReject(starting.context.session, finishOrInsert(starting, result));
}

async function finishOrInsert(
  { context, effects, request, holding, claim }: Starting,
  result: string,
): Promise<Result<boolean, StoreFailure>> {
  const { taskId, effect, key } = request;
  const seen = { taskId, effect, key, claim };
  const applied = { ...seen, state: 'applied' } as const;
  const finished = await writeEffect(context, effects, applied, effects.finish({ ...seen, result }));
  if (finished.isErr()) return err(finished.error);
  if (finished.value.record !== null) return ok(finished.value.took);
  // An operator struck the start while it was under way; what is known now is not lost for that.
  const { fencingToken, actor } = holding.facts;
  const insert = effects.insertApplied({ ...seen, fencingToken, actor, result });
  return (await writeEffect(context, effects, applied, insert)).map(({ took }) => took);
}
