import { withTransitionLease } from 'transition-ownership';
import { effectAtMostOnce, type Process } from 'transition-ownership/testing';
import { options, type PlantedBug, seeded, type Tables } from './planted-bug.js';

/**
 * Tries again when the outside system does not answer. It had done it: only its answer was lost.
 *
 * The corrected one asks before it tries again, and holds the task where nobody can tell.
 */
const tryAgain = async ({ effect, name }: Process<Tables>): Promise<void> => {
  for (let tries = 1; tries <= 2; tries += 1) {
    try {
      await effect('deploy', () => name);
      return;
    } catch {
      // "The network is flaky."
    }
  }
};

const outside = { deployed: false };

const ask = async ({ createOwnership, effect, name }: Process<Tables>): Promise<void> => {
  const ownership = createOwnership(options);
  for (let tries = 1; tries <= 2; tries += 1) {
    const ended = await withTransitionLease(ownership, { taskId: 1, actor: name }, (held) =>
      held.runEffect({
        effect: 'deploy',
        key: 'the-sha',
        probe: () => effect('GET /deploy', () => (outside.deployed ? 'applied' : 'not-applied')),
        apply: () =>
          effect('deploy', () => {
            outside.deployed = true;
          }),
      }),
    );
    if (ended.isOk()) return;
  }
};

export const retryOfAnUnknownOutcome: PlantedBug = {
  name: 'retry of an unknown outcome',
  broken: { ...seeded, processes: { A: tryAgain }, faults: { lostReplies: 1 }, invariant: effectAtMostOnce('deploy') },
  corrected: {
    setup: async (world) => {
      outside.deployed = false;
      await seeded.setup(world);
    },
    outside: () => outside,
    processes: { A: ask },
    faults: { lostReplies: 1 },
    invariant: effectAtMostOnce('deploy'),
  },
};
