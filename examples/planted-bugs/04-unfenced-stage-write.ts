import { acquireLease, updateStageCas } from 'transition-ownership';
import { exactlyOneStageWriter, invariant, type Process } from 'transition-ownership/testing';
import { pausedPastTheLease, takeByHand } from './hand-lease.js';
import { options, type PlantedBug, seeded, type Tables } from './planted-bug.js';

/**
 * Holds a lease, and writes the stage without it. An owner that was paused past its lease moves the stage under its
 * successor.
 *
 * The corrected one puts its lease into the statement that writes: a late owner changes nothing.
 */
const writeStage = async (process: Process<Tables>): Promise<void> => {
  if (!(await takeByHand(process))) return;
  await process.db
    .updateTable('tasks')
    .set({ stage: 'done' })
    .where('id', '=', 1)
    .where('stage', '=', 'deploy')
    .execute();
};

const writeFenced = async ({ createOwnership, name, work }: Process<Tables>): Promise<void> => {
  const ownership = createOwnership(options);
  const lease = await acquireLease(ownership, { taskId: 1, actor: name });
  if (lease.isErr()) return;
  await work();
  void (await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease: lease.value }));
};

const movedByTheOwnerByHand = invariant<Tables>('the stage moves by the hand of the owner alone', (world) => {
  const moved = world.previous['tasks']?.[0]?.['stage'] !== world.rows('tasks')[0]?.['stage'];
  const owner = world.previous['hand_lease']?.[0]?.['owner'];
  return (
    !moved ||
    owner === undefined ||
    world.actors.some(({ name }) => name === owner) ||
    `${JSON.stringify(owner)} held it`
  );
});

export const unfencedStageWrite: PlantedBug = {
  name: 'stage write outside the fence',
  broken: {
    ...seeded,
    processes: { A: writeStage, B: writeStage },
    faults: pausedPastTheLease,
    invariant: movedByTheOwnerByHand,
  },
  corrected: {
    ...seeded,
    processes: { A: writeFenced, B: writeFenced },
    faults: pausedPastTheLease,
    invariant: exactlyOneStageWriter(),
  },
};
