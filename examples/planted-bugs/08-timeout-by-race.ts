import { withTransitionLease } from 'transition-ownership';
import { invariant, type Process } from 'transition-ownership/testing';
import { TTL_MS, takeByHand } from './hand-lease.js';
import { options, type PlantedBug, seeded, type Tables } from './planted-bug.js';

/**
 * Races the handler against a timer and gives the lease back when the timer wins. The handler does not know that it
 * lost: it goes on, and deploys without a lease.
 *
 * The corrected one holds the lease until the handler has ended, and asks for time before the step.
 */
const raced = async (process: Process<Tables>): Promise<void> => {
  const { db, clock, effect, name } = process;
  if (!(await takeByHand(process))) return;
  const handler = effect('deploy', () => name);
  await Promise.race([handler, clock.sleep(TTL_MS / 3)]);
  await db.deleteFrom('hand_lease').where('task_id', '=', 1).execute();
  await handler;
};

const awaited = async ({ createOwnership, effect, name }: Process<Tables>): Promise<void> => {
  void (await withTransitionLease(createOwnership(options), { taskId: 1, actor: name }, async (held) => {
    const ready = await held.ensure(TTL_MS / 3);
    if (ready.isOk()) await effect('deploy', () => name);
  }));
};

const deploysUnderALease = invariant<Tables>('a deploy happens under a lease', (world) => {
  const held = [...(world.previous['hand_lease'] ?? []), ...(world.previous['transition_lease'] ?? [])];
  const deploys = world.trace.at(-1)?.includes('deploy') === true && world.effects.get('deploy') !== undefined;
  return !deploys || held.length > 0 || 'nobody held the task';
});

export const timeoutByRace: PlantedBug = {
  name: 'timeout by race',
  broken: { ...seeded, processes: { A: raced }, faults: { clockJumps: 1 }, invariant: deploysUnderALease },
  corrected: { ...seeded, processes: { A: awaited }, faults: { clockJumps: 1 }, invariant: deploysUnderALease },
};
