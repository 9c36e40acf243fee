import { checkOneOf } from './check.js';
import type { IdValue } from './id.js';
import { invariant } from './invariant.js';
import { list, oneOf } from './request.js';

/** What is known of an effect: never started as far as the journal knows, started with its end unknown, or applied. */
export type EffectState = 'never-started' | 'started' | 'applied';

/** What the outside system says of an effect; `absent` where no one could be asked. */
export type EffectEvidence = 'applied' | 'not-applied' | 'unknown' | 'absent';

/**
 * What to do about an effect, or about a transition that is made of effects.
 *
 * `redrive`: do it, for it was certainly not done. `converge`: go on as if it had just been done, for it was.
 * `hold`: ask a person, for no one knows.
 */
export type EffectDecision = 'redrive' | 'converge' | 'hold';

/** A row of the journal of effects: one application of one effect to one task. */
export interface EffectRecord {
  /** The task. */
  readonly taskId: IdValue;
  /** Which effect it is: `merge_pr`. */
  readonly effect: string;
  /** Which application of it: the SHA, the run. */
  readonly key: string;
  /** The identity of the start; every later word on it compares this. */
  readonly claim: string;
  /** The token of the lease that it was started, or found applied, under. */
  readonly fencingToken: number;
  /** Who did that. */
  readonly actor: string;
  /** `started` until its end is known. */
  readonly state: 'started' | 'applied';
  /** The result as JSON text; `null` while it is only started. */
  readonly result: string | null;
  /** Database time of the start, epoch ms. */
  readonly startedAtMs: number;
  /** Database time at which it was known to be applied, epoch ms. */
  readonly appliedAtMs: number | null;
}

const DECISIONS: Readonly<Record<Exclude<EffectState, 'applied'>, Readonly<Record<EffectEvidence, EffectDecision>>>> = {
  'never-started': { applied: 'converge', 'not-applied': 'redrive', unknown: 'hold', absent: 'redrive' },
  started: { applied: 'converge', 'not-applied': 'redrive', unknown: 'hold', absent: 'hold' },
};

const STATES: readonly EffectState[] = ['never-started', 'started', 'applied'];
const EVIDENCE: readonly EffectEvidence[] = ['applied', 'not-applied', 'unknown', 'absent'];

/**
 * Decides about one effect: pure, the one truth table that running, assessing and recovering share.
 *
 * | journal | the outside system says | decision |
 * |---|---|---|
 * | applied | is not asked | converge |
 * | started | applied | converge |
 * | started | not applied | redrive |
 * | started | cannot tell, or no one could be asked | hold |
 * | never started | applied | converge |
 * | never started | not applied, or no one could be asked | redrive |
 * | never started | cannot tell | hold |
 */
export function decideEffect(state: EffectState, evidence: EffectEvidence): EffectDecision {
  checkOneOf('state', state, STATES);
  checkOneOf('evidence', evidence, EVIDENCE);
  return state === 'applied' ? 'converge' : DECISIONS[state][evidence];
}

const checkDecisions = list(oneOf<EffectDecision>('converge', 'redrive', 'hold'))('decisions');

/**
 * Decides about a transition from the decisions about its effects: one that is held holds it, else one that
 * must be done drives it again, else all are done; a transition without effects was never started.
 */
export function decideTransition(decisions: readonly EffectDecision[]): EffectDecision {
  checkDecisions(decisions);
  if (decisions.includes('hold')) return 'hold';
  return decisions.length === 0 || decisions.includes('redrive') ? 'redrive' : 'converge';
}

/** The state in the journal; `null` stands for no row. */
export function stateOf(record: EffectRecord | null): EffectState {
  return record === null ? 'never-started' : record.state;
}

/** The state as it is stored; nothing else was ever written there. */
export function checkState(state: string | null): 'started' | 'applied' {
  invariant(state === 'started' || state === 'applied', `an effect is in state ${String(state)}`);
  return state;
}
