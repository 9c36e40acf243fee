import { Failure } from '../failure/failure.js';
import type { AnyTables, TestStore } from '../store/store.js';
import { checkScenario, type Scenario } from '../world/scenario.js';
import { Simulation } from '../world/simulation.js';
import { failWith } from './failing.js';
import { picksOf } from './token.js';

/**
 * A schedule as `scheduleArbitrary` draws it: whole numbers, each taken modulo the number of choices, 0 to carry on.
 * (`unknown`, for that is how far TypeScript can follow your fast-check; what is no number counts as 0.)
 */
export type Schedule = readonly unknown[];

/**
 * Runs one schedule again: a token from a failure, or the picks of `scheduleArbitrary`.
 *
 * @returns The failure, if it fails; else its trace, one line a step.
 * @example
 * ```ts
 * import { explore, replay } from 'transition-ownership/testing';
 * import { scenario, store } from './scenario.js';
 *
 * const { failure } = await explore(store, { ...scenario, invariant: () => false });
 * if (failure !== undefined) {
 *   const again = await replay(store, scenario, failure.token); // or the word that a message ends with
 *   console.log(again.trace.join('\n'));
 * }
 * ```
 */
export async function replay<DB = AnyTables>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  schedule: string | Schedule,
): Promise<Failure | { readonly trace: readonly string[] }> {
  checkScenario(scenario);
  await store.open();
  const exact = typeof schedule === 'string';
  const picks = exact
    ? picksOf(scenario, schedule)
    : schedule.map((pick) => (typeof pick === 'number' ? Math.abs(Math.trunc(pick)) : 0));
  const world = new Simulation(store, scenario, { drawn: true });
  const error = await failWith(world, picks, exact ? (pick) => pick : (pick, of) => pick % of);
  if (error === undefined) return { trace: world.trace };
  return Failure.of({ store, scenario, error, picks: world.taken, log: world.log });
}
