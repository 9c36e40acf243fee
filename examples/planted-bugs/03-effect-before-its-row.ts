import { withTransitionLease } from 'transition-ownership';
import { effectAtMostOnce, type Process } from 'transition-ownership/testing';
import { options, type PlantedBug, seeded, type Tables } from './planted-bug.js';

/**
 * Deploys, and then writes down that it did. A crash in between leaves no trace, and the next run deploys again.
 *
 * The corrected one writes down that it begins, and after a crash asks the outside system what became of it.
 */
const deployThenWrite = async ({ db, effect, name }: Process<Tables>): Promise<void> => {
  const done = await db.selectFrom('hand_journal').select('effect').where('task_id', '=', 1).execute();
  if (done.length > 0) return;
  await effect('deploy', () => name);
  await db.insertInto('hand_journal').values({ task_id: 1, effect: 'deploy' }).execute();
};

const outside = { deployed: false };

const writeThenDeploy = async ({ createOwnership, effect, name }: Process<Tables>): Promise<void> => {
  const ownership = createOwnership(options);
  const request = { taskId: 1, actor: name } as const;
  void (await withTransitionLease(ownership, request, (held) =>
    held.runEffect({
      effect: 'deploy',
      key: 'the-sha',
      probe: () => effect('GET /deploy', () => (outside.deployed ? 'applied' : 'not-applied')),
      apply: () =>
        effect('deploy', () => {
          outside.deployed = true;
        }),
    }),
  ));
};

export const effectBeforeItsRow: PlantedBug = {
  name: 'effect before its journal row',
  broken: {
    ...seeded,
    processes: { A: deployThenWrite },
    faults: { crashes: 1, restarts: 1 },
    invariant: effectAtMostOnce('deploy'),
  },
  corrected: {
    setup: async (world) => {
      outside.deployed = false;
      await seeded.setup(world);
    },
    outside: () => outside,
    processes: { A: writeThenDeploy },
    faults: { crashes: 1, restarts: 1 },
    invariant: effectAtMostOnce('deploy'),
  },
};
