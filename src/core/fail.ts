import type {
  AlreadyFree,
  EffectFailed,
  EffectUnknown,
  EffectUnrecorded,
  HandlerFailed,
  IllegalTransition,
  InvalidId,
  LeaseBusy,
  LeaseLost,
  LostRace,
  NotEnoughTime,
  NotGranting,
  StoreFailure,
  TaskNotFound,
  TokenMismatch,
} from './failure.js';
import type { Finding } from './finding.js';
import type { Holder } from './holder.js';
import type { IdValue } from './id.js';
import { inspectValue } from './inspect-value.js';
import { frozen } from './json.js';
import { ended, sentence } from './reason.js';
import type { Judgement } from './verdict.js';

export { reasonOf } from './reason.js';

/** How a message names a holder. */
export function nameHolder({ actor, fencingToken, pid }: Holder): string {
  return `${actor} (token ${fencingToken}${pid === null ? '' : `, pid ${pid}`})`;
}

/** Another process's lease stands in the way. */
export function leaseBusy(taskId: IdValue, holder: Holder, { verdict, reason }: Judgement): LeaseBusy {
  const message = `Task ${inspectValue(taskId)} is held by ${nameHolder(holder)}: ${verdict}, ${reason}.`;
  return frozen({ type: 'lease-busy', message, taskId, holder, verdict, reason });
}

/** The row changed hands at every try, so no one can be named. */
export function leaseContended(taskId: IdValue): LeaseBusy {
  const message = `Task ${inspectValue(taskId)} changed hands at every try.`;
  return frozen({ type: 'lease-busy', message, taskId, holder: null, verdict: 'unknown', reason: 'contended' });
}

/** The holder is dead by all evidence, and somebody's open transaction has its row locked. */
export function leaseLocked(taskId: IdValue, holder: Holder): LeaseBusy {
  const message = `Task ${inspectValue(taskId)} is held by ${nameHolder(holder)}: dead, but an open transaction has the row locked.`;
  return frozen({ type: 'lease-busy', message, taskId, holder, verdict: 'unknown', reason: 'locked' });
}

/** The row of the task's lease is there and cannot be read, so nobody can be named. */
export function leaseUnreadable(taskId: IdValue): LeaseBusy {
  const message = `Task ${inspectValue(taskId)} is held, by whom cannot be read.`;
  return frozen({ type: 'lease-busy', message, taskId, holder: null, verdict: 'unknown', reason: 'unreadable' });
}

/** This process holds the task without a row: its handler began under mode `off`, or without the store. */
export function leaseUnguardedHere(taskId: IdValue, actor: string): LeaseBusy {
  const message = `Task ${inspectValue(taskId)} is held by ${actor} of this process, without a row: it began while nothing was guarded.`;
  return frozen({ type: 'lease-busy', message, taskId, holder: null, verdict: 'live', reason: 'unguarded-here' });
}

const NOT_GRANTING: Record<NotGranting['reason'], string> = {
  draining: 'No lease is granted while the mode is draining.',
  closed: 'No lease is granted: the ownership is closed.',
  aborted: 'No lease was asked for: the signal of the request had fired.',
};

/** No lease is granted at all. */
export function notGranting(reason: NotGranting['reason']): NotGranting {
  return frozen({ type: 'not-granting', message: NOT_GRANTING[reason], reason });
}

/** Another's text or number is no id. */
export function invalidId(message: string): InvalidId {
  return frozen({ type: 'invalid-id', message });
}

const LOST: Record<LeaseLost['reason'], string> = {
  superseded: 'another owner holds it now',
  gone: 'its row is gone',
  'over-budget': 'its hold passed maxHoldMs',
  unverifiable: 'no renewal could be verified in time',
};

/** What a loss carries. */
export interface Loss {
  readonly taskId: IdValue;
  readonly fencingToken: number | null;
  readonly reason: LeaseLost['reason'];
  readonly holder?: Holder;
}

/** The lease is no longer the caller's. */
export function leaseLost({ taskId, fencingToken, reason, holder }: Loss): LeaseLost {
  const message = `The lease ${fencingToken} on task ${inspectValue(taskId)} was lost: ${LOST[reason]}.`;
  return frozen({ type: 'lease-lost', message, taskId, fencingToken, reason, ...(holder && { holder }) });
}

/** The same loss, carrying what the handler returned all the same. */
export function withValue<V>(lost: LeaseLost, value: V): LeaseLost<V> {
  return frozen({ ...lost, value });
}

/** Too little of the lease is left. */
export function notEnoughTime(neededMs: number, remainingMs: number): NotEnoughTime {
  const message = `The lease has ${remainingMs} ms left and the step needs ${neededMs} ms.`;
  return frozen({ type: 'not-enough-time', message, remainingMs });
}

/** The stage had moved. */
export function lostRace<S>(taskId: IdValue, expected: S, actual: S): LostRace<S> {
  const message =
    expected === actual
      ? `Task ${inspectValue(taskId)} is in stage ${inspectValue(actual)} as expected, and yet the write changed nothing: a trigger or rule stopped it.`
      : `Task ${inspectValue(taskId)} was expected in stage ${inspectValue(expected)} and is in ${inspectValue(actual)}.`;
  return frozen({ type: 'lost-race', message, taskId, expected, actual });
}

/** There is no such task. */
export function taskNotFound(taskId: IdValue): TaskNotFound {
  return frozen({ type: 'task-not-found', message: `There is no task ${inspectValue(taskId)}.`, taskId });
}

/** The move is not in the map of stages. */
export function illegalTransition(taskId: IdValue, from: string | null, to: string | null): IllegalTransition {
  const message = `Task ${inspectValue(taskId)} may not go from ${inspectValue(from)} to ${inspectValue(to)}.`;
  return frozen({ type: 'illegal-transition', message, taskId, from, to });
}

/** The handler threw. */
export function handlerFailed(cause: unknown): HandlerFailed {
  return frozen({ type: 'handler-failed', message: `The handler threw: ${sentence(cause)}`, cause });
}

/** No one can tell whether the effect happened; `why` is one clause for people. */
export function effectUnknown(unknown: Omit<EffectUnknown, 'type' | 'message'>, why: string): EffectUnknown {
  const { taskId, effect, key } = unknown;
  const message = `Whether ${inspectValue(effect)} (${inspectValue(key)}) of task ${inspectValue(taskId)} was applied is not known: ${ended(why)}`;
  return frozen({ type: 'effect-unknown', message, ...unknown });
}

/** The effect was applied, and the journal could not be written; `value` is what `apply` gave. */
export function effectUnrecorded<V>(applied: Omit<EffectUnrecorded<V>, 'type' | 'message'>): EffectUnrecorded<V> {
  const { taskId, effect, key, cause } = applied;
  const message = `${inspectValue(effect)} (${inspectValue(key)}) of task ${inspectValue(taskId)} was applied, and could not be recorded: ${cause.message}`;
  return frozen({ type: 'effect-unrecorded', message, ...applied });
}

/** The effect certainly did nothing. */
export function effectFailed(cause: unknown): EffectFailed {
  return frozen({ type: 'effect-failed', message: `The effect was not applied: ${sentence(cause)}`, cause });
}

/** Another acquisition holds the task than the one that the operator named. */
export function tokenMismatch(holder: Holder, given: number): TokenMismatch {
  const message = `Token ${given} does not hold the task: ${nameHolder(holder)} does.`;
  return frozen({ type: 'token-mismatch', message, holder });
}

/** There was nothing to release. */
export function alreadyFree(taskId: IdValue): AlreadyFree {
  return frozen({ type: 'already-free', message: `Task ${inspectValue(taskId)} is held by no one.` });
}

/** The database failed. */
export function storeFailure({
  kind,
  retryable,
  outcome,
  cause,
  findings,
  transactionEnded,
}: Omit<StoreFailure, 'type' | 'message'>): StoreFailure {
  const told = outcome === 'unknown' ? 'the outcome is unknown' : 'nothing was applied';
  const ended = transactionEnded ? ' Your transaction was ended by it.' : '';
  const message = `The store failed (${kind}, ${told}): ${sentence(cause)}${ended}`;
  const more = { ...(findings && { findings }), ...(transactionEnded && { transactionEnded }) };
  return frozen({ type: 'store-failure', message, kind, retryable, outcome, cause, ...more });
}

/** What was found makes the session or a table unsuitable: nothing was written. */
export function unsuitable(findings: readonly [Finding, ...Finding[]]): StoreFailure {
  const cause = new Error(findings[0].message);
  const kept = Object.freeze([...findings]);
  return storeFailure({ kind: 'unsuitable', retryable: false, outcome: 'not-applied', cause, findings: kept });
}

/** The same trouble after a statement that may have been applied. */
export function ofUnknownOutcome(failure: StoreFailure): StoreFailure {
  return storeFailure({ ...failure, outcome: 'unknown' });
}
