import type { TestStore } from 'transition-ownership/testing';
import { type Cells, randomProgram, seenOf } from './random-programs.js';

/** A program whose reduced search saw something else than the whole one. */
export interface Disagreement {
  readonly seed: number;
  readonly reduce: 'cache' | 'sleep' | 'both';
  /** What it missed, and what it saw that is not there. */
  readonly missing: readonly string[];
  readonly more: readonly string[];
}

/** What a comparison came to. */
export interface Compared {
  readonly programs: number;
  readonly disagreements: readonly Disagreement[];
}

/**
 * Runs random programs whole and reduced in each way, until the time is up, and compares all that was seen.
 *
 * A program that is too large to run whole is passed over.
 */
export async function compareReductions(
  store: TestStore<Cells>,
  {
    firstSeed,
    maxMs,
    maxSchedules = 400,
  }: { readonly firstSeed: number; readonly maxMs: number; readonly maxSchedules?: number },
): Promise<Compared> {
  const untilMs = performance.now() + maxMs;
  const disagreements: Disagreement[] = [];
  let programs = 0;
  for (let seed = firstSeed; performance.now() < untilMs || programs === 0; seed += 1) {
    const whole = await seenOf(store, randomProgram(seed), { reduce: 'none', maxSchedules });
    if (!whole.through) continue;
    programs += 1;
    for (const reduce of ['cache', 'sleep', 'both'] as const) {
      const reduced = await seenOf(store, randomProgram(seed), { reduce });
      const missing = [...without(whole.states, reduced.states), ...without(whole.ends, reduced.ends)];
      const more = [...without(reduced.states, whole.states), ...without(reduced.ends, whole.ends)];
      if (missing.length > 0 || more.length > 0) disagreements.push({ seed, reduce, missing, more });
    }
  }
  return { programs, disagreements };
}

const without = (these: readonly string[], those: readonly string[]): string[] => {
  const known = new Set(those);
  return these.filter((each) => !known.has(each));
};
