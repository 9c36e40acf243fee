/** Chance that a seed decides: the same seed, the same throws. */
export interface Dice {
  /** At least 0, below 1. */
  roll(): number;
  /** A whole number from 0 to below `sides`. */
  below(sides: number): number;
  /** A number of milliseconds between two. */
  between(minMs: number, maxMs: number): number;
  /** True so often. */
  chance(probability: number): boolean;
}

/** Throws by a seed (mulberry32). */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  const roll = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    roll,
    below: (sides) => Math.floor(roll() * sides),
    between: (minMs, maxMs) => Math.floor(minMs + roll() * (maxMs - minMs)),
    chance: (probability) => roll() < probability,
  };
}
