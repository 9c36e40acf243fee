import type { Incarnation } from './incarnation.js';
import type { WorldState } from './state.js';

/** The processes that wait for timers which the budget has no call left for: there a schedule is cut off. */
export function outOfTimers<DB>({ budget, processes }: WorldState<DB>): readonly Incarnation[] {
  if (budget.timers > 0) return [];
  return processes.filter((each) => each.alive && each.pending.some((parked) => parked.kind === 'timer'));
}
