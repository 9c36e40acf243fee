import type { Simulation } from './simulation.js';

/** Timers went on until their budget was spent, and what waits for them is left there: a bound, not a fault. */
export function isOutOfTimers<DB>({ budget, processes }: Pick<Simulation<DB>, 'budget' | 'processes'>): boolean {
  if (budget.timers > 0) return false;
  return processes.some((each) => each.alive && each.pending.some((parked) => parked.kind === 'timer'));
}
