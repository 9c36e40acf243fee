import { expiriesIn } from './expiries.js';
import { checksDue } from './invariant.js';
import type { ProcessSource } from './load-main.js';
import type { Simulation } from './simulation.js';
import { startMs } from './start-ms.js';
import type { WorldState } from './state.js';

/**
 * Ends the faults and looks whether all comes right: the disk has room, time has passed every expiry in sight, and a
 * fresh start of each process (or of `recover`) runs to its end. Does nothing unless the scenario has an `eventually`.
 */
export async function recoverAndCheck<DB>(world: Simulation<DB>): Promise<void> {
  const { scenario } = world.state;
  if (checksDue(scenario, 'healed') === undefined) return;
  await runFresh(world, scenario.recover === undefined ? Object.values(scenario.processes) : [scenario.recover]);
  await world.check('healed');
}

/** Runs main functions as fresh processes, one after another and without faults, each to its end. */
export async function runFresh<DB>(world: Simulation<DB>, mains: readonly ProcessSource<DB>[]): Promise<void> {
  const { state } = world;
  const { budget } = state;
  Object.assign(budget, {
    crashes: 0,
    restarts: 0,
    lostReplies: 0,
    failures: 0,
    diskFull: 0,
    clockJumps: 0,
    databaseClockJumps: 0,
    timePasses: 0,
  });
  budget.timers = Math.max(budget.timers, 8);
  if (state.diskIsFull) await world.take({ kind: 'disk-healed', id: 'dh' });
  for (const [at, main] of mains.entries()) {
    const dead = state.processes[Math.min(at, state.processes.length - 1)];
    if (dead === undefined) return;
    await world.take({ kind: 'advance', id: 'heal', toMs: pastEverything(state) });
    await world.startAgain(dead, main);
    for (let choice = world.choices()[0]; choice !== undefined; choice = world.choices()[0]) await world.take(choice);
    world.assertAllEnded();
  }
}

function pastEverything<DB>(state: WorldState<DB>): number {
  const expiries = state.scenario.expiries?.(state) ?? expiriesIn(state.snapshot);
  return Math.max(startMs, state.nowMs, ...expiries.map((expiryMs) => expiryMs - state.databaseAheadMs)) + 1;
}
