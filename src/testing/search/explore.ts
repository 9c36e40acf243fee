import type { AnyTables, TestStore } from '../store/store.js';
import { checkScenario, type Scenario } from '../world/scenario.js';
import { type Bounds, checkBounds, type Report } from './report.js';
import { search } from './search.js';
import { widen } from './widen.js';

/**
 * Runs every interleaving of a scenario with every fault at every moment, within the bounds.
 *
 * Unless `preemptions` or `reduce` say how, it begins with the schedules that have no preemption, one, and two.
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
  const isPlain = bounds.preemptions === undefined && bounds.reduce === undefined;
  return isPlain ? widen(store, scenario, bounds) : (await search(store, scenario, bounds)).report;
}
