import type { Incarnation } from './incarnation.js';
import { turn } from './lives.js';
import type { Simulation } from './simulation.js';
import { OutsideAwait } from './trouble.js';

/** How many turns of the event loop a process may take to reach its next point. A promise chain needs one. */
const patience = 8;

/** Waits until every process is parked; one that is not awaits something outside the world. */
export async function awaitQuiet<DB>(world: Simulation<DB>): Promise<void> {
  for (const each of world.processes) {
    await each.connection?.settled?.();
    for (let turns = 0; isLoose(each); turns++) {
      if (turns === patience) throw new OutsideAwait(each.name);
      await turn();
    }
  }
  if (world.lives.threw !== undefined) throw world.lives.threw;
}

const isLoose = (each: Incarnation) => each.alive && each.pending.length === 0 && each.inFlight.length === 0;
