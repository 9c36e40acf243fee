import type { Incarnation } from './incarnation.js';
import type { WorldState } from './state.js';
import { OutsideAwait } from './trouble.js';
import { turn } from './turn.js';

/** How many turns of the event loop a process may take to reach its next point. A promise chain needs one. */
const patience = 8;

/** Waits until every process is parked; one that is not awaits something outside the world. */
export async function awaitQuiet<DB>(state: WorldState<DB>): Promise<void> {
  for (const each of state.processes) {
    await each.connection?.settled?.();
    for (let turns = 0; isLoose(each); turns++) {
      if (turns === patience) throw new OutsideAwait(each);
      await turn();
    }
  }
  if (state.threw !== undefined) throw state.threw;
}

/** A renewal goes on by itself: a process that has nothing else at hand awaits what the world does not know. */
const isLoose = (each: Incarnation) =>
  each.alive && each.inFlight.length === 0 && each.pending.every((parked) => parked.background);
