import type { Choice } from '../world/choice.js';
import type { Pick } from '../world/run-options.js';

/** How a random schedule is drawn: evenly, or with few switches between prioritised processes. */
export type Strategy = 'uniform' | 'pct';

/** Takes each pick modulo the number of choices; 0 once they are used up. Zeros carry on with the same process. */
export function uniformWalk(picks: readonly number[]): Pick {
  let at = 0;
  return (choices) => (picks[at++] ?? 0) % choices.length;
}

/**
 * Probabilistic concurrency testing: the process of highest priority goes on, except at a few steps where the pick says
 * otherwise. Finds a mistake that needs d switches with a probability that does not fall with the length of a run.
 *
 * Picks are read in pairs: at which step to deviate, and to what. An empty list runs each process to its end.
 */
export function pctWalk(picks: readonly number[], horizon: number): Pick {
  const deviations = new Map<number, number>();
  for (let at = 0; at + 1 < picks.length; at += 2) deviations.set((picks[at] ?? 0) % horizon, picks[at + 1] ?? 0);
  let step = 0;
  return (choices) => {
    const deviation = deviations.get(step++);
    return deviation === undefined ? firstStep(choices) : deviation % choices.length;
  };
}

/** Choices begin with the process that went on last, so a deviation also changes who goes on from there. */
const firstStep = (choices: readonly Choice[]) =>
  Math.max(
    0,
    choices.findIndex((choice) => choice.kind === 'step'),
  );
