import { acquireLease, reclaimStaleLeases, releaseLease } from 'transition-ownership';
import type { Process } from 'transition-ownership/testing';
import { endedByItsOwnerAlone, takeByHand } from './hand-lease.js';
import { options, type PlantedBug, seeded, type Tables } from './planted-bug.js';

/**
 * Clears all leases at start-up, because "whoever had them died with the last process". A second process starts while
 * the first one works.
 *
 * The corrected one looks at each holder, and removes those of the dead alone.
 */
const clearAll = async ({ db }: Process<Tables>): Promise<void> => {
  await db.deleteFrom('hand_lease').execute();
};

const takeAndWork = async (process: Process<Tables>): Promise<void> => {
  if (await takeByHand(process)) await process.work();
};

const reclaimTheDead = async ({ createOwnership }: Process<Tables>): Promise<void> => {
  void (await reclaimStaleLeases(createOwnership(options)));
};

const own = async ({ createOwnership, name, work }: Process<Tables>): Promise<void> => {
  const ownership = createOwnership(options);
  const lease = await acquireLease(ownership, { taskId: 1, actor: name });
  if (lease.isErr()) return;
  await work();
  void (await releaseLease(ownership, lease.value));
};

export const recoveryThatIgnoresALiveOwner: PlantedBug = {
  name: 'recovery that ignores a live owner',
  broken: { ...seeded, processes: { A: takeAndWork, recovery: clearAll }, invariant: endedByItsOwnerAlone },
  corrected: { ...seeded, processes: { A: own, recovery: reclaimTheDead }, invariant: endedByItsOwnerAlone },
};
