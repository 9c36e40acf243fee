import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { decideEffect, type EffectRecord, stateOf } from '../core/effect.js';
import { readResult } from '../core/effect-result.js';
import { effectFailed, effectUnknown } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { inspectValue } from '../core/inspect-value.js';
import type { Holding } from '../holding/holding.js';
import { ensure } from '../lease-row/ensure-lease.js';
import type { EffectStatements } from '../sql/effect-statements.js';
import { type EndedCall, effectCallsOf } from '../system/effect-calls.js';
import { TOO_LATE, withTimeout } from '../system/with-timeout.js';
import { applyStarted, unrecordedIn, writeResult } from './apply-effect.js';
import { type Asked, askProbe } from './ask-probe.js';
import { alreadyApplied, type EffectFailure, type EffectOutcome } from './effect-outcome.js';
import type { CheckedEffect } from './effect-request.js';
import { effectFacts, readEffect, writeEffect } from './journal.js';
import { refusalOf, type Starting, writeStart } from './start-effect.js';

type Answer = Result<EffectOutcome, EffectFailure>;

/** An effect under a guarded lease, with the journal that it is written in. */
interface Running {
  readonly context: Context;
  readonly effects: EffectStatements;
  readonly request: CheckedEffect;
  readonly holding: Holding;
}

/** Each try ends, or sees that another process's word came between: so often in a row is not by chance. */
const MAX_TRIES = 8;

/** Runs an effect under a lease: reads the journal, asks whoever may know, and applies what was certainly not. */
export async function runGuarded(asked: Running): Promise<Answer> {
  const spelled = await spelledAsWritten(asked);
  if (spelled.isErr()) return err(spelled.error);
  const running = spelled.value;
  let seen: EffectRecord | null = null;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const refusal = refusalOf(running.holding);
    if (refusal !== undefined) return err(refusal);
    const read: Result<EffectRecord | null, StoreFailure> = await readEffect(
      running.context,
      running.effects,
      running.request,
    );
    if (read.isErr()) return err(read.error);
    seen = read.value;
    const answer = seen?.state === 'applied' ? ok(alreadyApplied(seen.result)) : await decide(running, seen);
    if (answer !== undefined) return answer;
  }
  return hold(running, seen, { evidence: 'absent', message: 'it changed hands at every try' });
}

/**
 * The request with the id under which the journal has its effect: version 0.1.0 wrote the one of the request for the
 * lease, which may spell it in another way than the row of the task.
 */
async function spelledAsWritten(running: Running): Promise<Result<Running, StoreFailure>> {
  const { context, effects, request, holding } = running;
  const { taskId, askedId } = holding.facts;
  if (taskId === askedId) return ok(running);
  const own = await readEffect(context, effects, request);
  if (own.isErr()) return err(own.error);
  if (own.value !== null) return ok(running);
  const asked = { ...request, taskId: askedId };
  const old = await readEffect(context, effects, asked);
  return old.map((record) => (record === null ? running : { ...running, request: asked }));
}

/** Decides about an effect that is not known to be applied; `undefined` if the journal is to be read again. */
async function decide(running: Running, seen: EffectRecord | null): Promise<Answer | undefined> {
  const { context, request } = running;
  const calls = effectCallsOf(context.ports.identity);
  if (seen !== null && calls.waitsForItself(seen.claim)) return err(effectFailed(new TypeError(itself(request))));
  const ended = seen === null ? undefined : calls.ended(seen.claim);
  // Not for ever: what is waited for may hang, and this hold has an end of its own.
  const own = ended && (await withTimeout(context.ports.clock, running.holding.holdLeftMs, ended));
  if (own === TOO_LATE) return err(running.holding.lose('over-budget'));
  if (seen !== null && own !== undefined) {
    if (own.is === 'written') return own.failure && err(own.failure);
    if (own.is === 'applied') return recordLate({ ...running, claim: seen.claim }, own.result);
  }
  const asked: Asked =
    own === undefined
      ? await askProbe(context, request.probe, request, seen)
      : { evidence: 'not-applied', message: 'this process knows that it was not' };
  switch (decideEffect(stateOf(seen), asked.evidence)) {
    case 'hold':
      return hold(running, seen, asked);
    case 'converge':
      return converge(running, seen);
    case 'redrive': {
      const ensured = await ensure(context, request.lease, request.needsMs);
      if (ensured.isErr()) return err(ensured.error);
      const claim = context.ports.randomness.claim();
      return calls.run(claim, () => startAndApply({ ...running, claim }, seen));
    }
  }
}

function itself({ taskId, effect, key }: CheckedEffect): string {
  return `${inspectValue(effect)} (${inspectValue(key)}) of task ${inspectValue(taskId)} is run inside its own apply, and would wait for itself`;
}

/** No one can tell: it is left as it is, for a person to look at. */
function hold({ context, request }: Running, seen: EffectRecord | null, { message, thrown }: Asked): Answer {
  const { taskId, effect, key, lease } = request;
  const unknown = { taskId, effect, key, since: seen?.startedAtMs ?? lease.acquiredAtMs, ...thrown };
  const failure = effectUnknown(unknown, message);
  const token = seen === null ? lease.fencingToken : seen.fencingToken;
  context.observer.emit('effect.unknown', { ...effectFacts(request, token), message: failure.message });
  return err(failure);
}

/** The outside system says that it was done: marks it, unless another process's word comes first. */
async function converge(running: Running, seen: EffectRecord | null): Promise<Answer | undefined> {
  const { context, effects, request, holding } = running;
  const { taskId, effect, key } = request;
  const { fencingToken, actor } = holding.facts;
  const claim = seen === null ? context.ports.randomness.claim() : seen.claim;
  const named = { taskId, effect, key, claim };
  const query =
    seen === null
      ? effects.insertApplied({ ...named, fencingToken, actor, result: 'null' })
      : effects.mark({ ...named, result: 'null' });
  const marked = await writeEffect(context, effects, { ...named, state: 'applied' }, query);
  if (marked.isErr()) return err(marked.error);
  const { record, took } = marked.value;
  if (!took || record === null) return undefined;
  const facts = effectFacts(request, record.fencingToken);
  context.observer.emit('effect.applied', { ...facts, by: 'probe', unrecorded: null });
  return ok(alreadyApplied(record.result));
}

/** This process applied it and could not say so at the time: says it now. */
async function recordLate(starting: Starting, result: string): Promise<Answer | undefined> {
  const { context, request, holding, claim } = starting;
  const written = await writeResult(starting, result);
  if (written.isErr()) return unrecordedIn(starting, readResult(result), written.error);
  effectCallsOf(context.ports.identity).forget(claim);
  if (!written.value) return undefined;
  const facts = effectFacts(request, holding.facts.fencingToken);
  context.observer.emit('effect.applied', { ...facts, by: 'apply', unrecorded: null });
  return ok(alreadyApplied(result));
}

/** One start of the effect, from its first statement to the last word on it. */
async function startAndApply(starting: Starting, seen: EffectRecord | null): Promise<EndedCall<Answer | undefined>> {
  const started = await writeStart(starting, seen);
  if (started.isErr()) {
    const { error } = started;
    const mayStand = error.type === 'store-failure' && error.outcome === 'unknown';
    return { known: { is: mayStand ? 'not-applied' : 'written' }, answer: err(error) };
  }
  if (started.value === null) return { known: { is: 'written' }, answer: undefined };
  if (seen !== null) effectCallsOf(starting.context.ports.identity).forget(seen.claim);
  return applyStarted(starting, started.value);
}
