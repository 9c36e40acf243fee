import { expiriesIn } from './expiries.js';
import { checksDue } from './invariant.js';
import type { ProcessMain } from './process.js';
import { startMs } from './run-options.js';
import type { Simulation } from './simulation.js';

/**
 * Ends the faults and looks whether all comes right: the disk has room, time has passed every expiry in sight, and a
 * fresh start of each process (or of `recover`) runs to its end. Does nothing unless the scenario has an `eventually`.
 */
export async function recoverAndCheck<DB>(world: Simulation<DB>): Promise<void> {
  const { scenario } = world;
  if (checksDue(scenario, 'healed') === undefined) return;
  await runFresh(world, scenario.recover === undefined ? Object.values(scenario.processes) : [scenario.recover]);
  await world.check('healed');
}

/** Runs main functions as fresh processes, one after another and without faults, each to its end. */
export async function runFresh<DB>(world: Simulation<DB>, mains: readonly ProcessMain<DB>[]): Promise<void> {
  const { budget } = world;
  Object.assign(budget, {
    crashes: 0,
    restarts: 0,
    lostReplies: 0,
    failures: 0,
    diskFull: 0,
    clockJumps: 0,
    databaseClockJumps: 0,
  });
  budget.timers = Math.max(budget.timers, 8);
  if (world.diskIsFull) await world.take({ kind: 'disk-healed', id: 'dh' });
  for (const [at, main] of mains.entries()) {
    const dead = world.processes[Math.min(at, world.processes.length - 1)];
    if (dead === undefined) return;
    await world.take({ kind: 'advance', id: 'heal', toMs: pastEverything(world) });
    await world.lives.restart(dead, false, main);
    await world.settle();
    for (let choice = world.choices()[0]; choice !== undefined; choice = world.choices()[0]) await world.take(choice);
    world.assertAllEnded();
  }
}

function pastEverything<DB>(world: Simulation<DB>): number {
  const expiries = world.scenario.expiries?.(world) ?? expiriesIn(world.snapshot);
  return Math.max(startMs, world.nowMs, ...expiries.map((expiryMs) => expiryMs - world.databaseAheadMs)) + 1;
}
