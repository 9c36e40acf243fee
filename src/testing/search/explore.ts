import { type Failure, vacuity } from '../failure/failure.js';
import type { AnyTables, TestStore } from '../store/store.js';
import { recoverAndCheck } from '../world/recovery.js';
import { checkScenario, type Scenario } from '../world/scenario.js';
import { Count } from './count.js';
import { Exploration } from './exploration.js';
import { failureOf } from './failing.js';
import { type Bounds, checkBounds, type Report } from './report.js';
import { rerun } from './rerun.js';

/**
 * Runs every interleaving of a scenario with every fault at every moment, within the bounds.
 *
 * Resolves with a report, also when a rule was broken: `assertHolds` turns that into a throw. Rejects only if the test
 * itself is wrong: a store that cannot be opened, a `setup` that throws.
 *
 * @example
 * ```ts
 * import { assertHolds, explore } from 'transition-ownership/testing';
 * import { scenario, store } from './scenario.js';
 *
 * assertHolds(await explore(store, { ...scenario, faults: { crashes: 1 } }));
 * ```
 */
export async function explore<DB = AnyTables>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  bounds: Bounds = {},
): Promise<Report> {
  checkScenario(scenario);
  checkBounds(bounds);
  await store.open();
  const begunMs = performance.now();
  const exploration = new Exploration(store, scenario, bounds);
  const count = new Count();
  let exhausted = false;
  let failure: Failure | undefined;
  while (!exhausted && failure === undefined && !isSpent(bounds, count.schedules, begunMs)) {
    const world = exploration.world();
    try {
      const end = await exploration.run(world);
      if (isRerun(bounds, count.schedules)) await rerun(store, scenario, world);
      if (end === 'end') await recoverAndCheck(world);
    } catch (error) {
      failure = await failureOf(store, scenario, { world, error, shrinks: bounds.shrink ?? true });
    }
    await world.leave();
    count.add(world);
    exhausted = !exploration.turn();
  }
  failure ??= vacuity(scenario, count.faultsMet);
  const proves = bounds.preemptions === undefined || (bounds.reduce ?? 'none') === 'none';
  return {
    complete: exhausted && failure === undefined && proves,
    ...count.totals(),
    states: exploration.states.size,
    ms: performance.now() - begunMs,
    ...(failure === undefined ? {} : { failure }),
  };
}

function isSpent(bounds: Bounds, schedules: number, begunMs: number): boolean {
  return (
    schedules >= (bounds.maxSchedules ?? Number.POSITIVE_INFINITY) ||
    performance.now() - begunMs > (bounds.maxMs ?? Number.POSITIVE_INFINITY)
  );
}

/** The first schedules show most mistakes; later ones are looked at ever less often: 1, 2, 4, 8, … */
function isRerun({ rerunEvery }: Bounds, schedules: number): boolean {
  if (rerunEvery === undefined) return ((schedules + 1) & schedules) === 0;
  return rerunEvery > 0 && schedules % rerunEvery === 0;
}
