import { acquireLease, releaseLease } from 'transition-ownership';
import type { Process } from 'transition-ownership/testing';
import { endedByItsOwnerAlone, pausedPastTheLease, takeByHand } from './hand-lease.js';
import { options, type PlantedBug, seeded, type Tables } from './planted-bug.js';

/**
 * Gives the task back by its id. An owner that was paused past its lease gives back the lease of its successor.
 *
 * The corrected one gives back exactly its own acquisition, by its claim.
 */
const releaseTask = async (process: Process<Tables>): Promise<void> => {
  if (!(await takeByHand(process))) return;
  await process.db.deleteFrom('hand_lease').where('task_id', '=', 1).execute();
};

const releaseOwn = async ({ createOwnership, name, work }: Process<Tables>): Promise<void> => {
  const ownership = createOwnership(options);
  const lease = await acquireLease(ownership, { taskId: 1, actor: name });
  if (lease.isErr()) return;
  await work();
  void (await releaseLease(ownership, lease.value));
};

export const releaseByTask: PlantedBug = {
  name: 'release by task',
  broken: {
    ...seeded,
    processes: { A: releaseTask, B: releaseTask },
    faults: pausedPastTheLease,
    invariant: endedByItsOwnerAlone,
  },
  corrected: {
    ...seeded,
    processes: { A: releaseOwn, B: releaseOwn },
    faults: pausedPastTheLease,
    invariant: endedByItsOwnerAlone,
  },
};
