import { Failure } from '../failure/failure.js';
import type { AnyTables, TestStore } from '../store/store.js';
import { checkScenario, type Scenario } from '../world/scenario.js';
import { Simulation } from '../world/simulation.js';
import { failIn, failWith } from './failing.js';
import { Follower } from './follow.js';
import { movesOf } from './token.js';

/**
 * A schedule as `scheduleArbitrary` draws it: whole numbers, each taken modulo the number of choices, 0 to carry on.
 * (`unknown`, for that is how far TypeScript can follow your fast-check; what is no number counts as 0.)
 */
export type Schedule = readonly unknown[];

/** A schedule that was run again, and in which nothing was wrong. */
export interface Replayed {
  /** What happened, one line a step. */
  readonly trace: readonly string[];
  /** Whether every step of the token was met. If not, the code has changed where it matters: find a new token. */
  readonly fits: boolean;
}

/**
 * Runs one schedule again: a token from a failure, or the picks of `scheduleArbitrary`.
 *
 * A token is followed by what its steps are: steps that are new between them are passed over. Where one of them is gone
 * the schedule is carried on without it, and `fits` is false: then nothing is said about the failure that the token kept.
 *
 * @returns The failure, if it fails; else its trace, one line a step, and whether every step of the token was met.
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
): Promise<Failure | Replayed> {
  checkScenario(scenario);
  await store.open();
  const world = new Simulation(store, scenario, { drawn: true });
  const follower = new Follower(typeof schedule === 'string' ? movesOf(scenario, schedule) : []);
  const error =
    typeof schedule === 'string'
      ? await failIn(world, () => world.run((choices) => follower.pick(choices, world.state.nowMs)))
      : await failWith(world, schedule.map(naturalOf), (pick, of) => pick % of);
  if (error !== undefined) return Failure.of({ store, scenario, error, world });
  return { trace: world.state.lines(), fits: follower.fits && follower.isThrough };
}

const naturalOf = (pick: unknown) => (typeof pick === 'number' ? Math.abs(Math.trunc(pick)) : 0);
