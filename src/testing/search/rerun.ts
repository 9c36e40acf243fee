import type { TestStore } from '../store/store.js';
import type { Scenario } from '../world/scenario.js';
import { Simulation } from '../world/simulation.js';
import { Trouble } from '../world/trouble.js';

/** Two runs of one schedule were not alike. */
export class RunsDiffer extends Trouble {
  override readonly name = 'RunsDiffer';

  constructor(trace: readonly string[]) {
    super(
      'two runs of one schedule differ, so something decides that no schedule controls: Date.now, Math.random, ' +
        'crypto.randomUUID, or state outside the database that `setup` does not reset. The second run:\n' +
        trace.map((line) => `  ${line}`).join('\n'),
    );
  }
}

/** Runs a schedule once more, without its checks, and throws if it goes another way. */
export async function rerun<DB>(store: TestStore<DB>, scenario: Scenario<DB>, first: Simulation<DB>): Promise<void> {
  const { invariant: _invariant, finally: _finally, eventually: _eventually, ...unchecked } = scenario;
  const second = new Simulation(store, unchecked, {
    interner: first.state.interner,
    maxSteps: Number.POSITIVE_INFINITY,
  });
  let at = 0;
  try {
    await second.run(() => first.taken[at++] ?? -1);
  } finally {
    await second.leave();
  }
  const story = (world: Simulation<DB>) => world.state.lines().join('\n');
  if (story(first) !== story(second)) throw new RunsDiffer(second.state.lines());
}
