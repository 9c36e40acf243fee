import { Failure } from '../failure/failure.js';
import type { TestStore } from '../store/store.js';
import { recoverAndCheck } from '../world/recovery.js';
import type { Scenario } from '../world/scenario.js';
import { type Ending, Simulation } from '../world/simulation.js';
import { isFinding, isShrinkable, kindOf } from './finding.js';
import { shrink } from './shrink.js';

/** Turns what a schedule threw into a failure that is shrunk, drawn and can be replayed; rethrows what is no finding. */
export async function failureOf<DB>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  { world, error, shrinks }: { readonly world: Simulation<DB>; readonly error: unknown; readonly shrinks: boolean },
): Promise<Failure> {
  await world.leave();
  if (!isFinding(error)) throw error;
  if (!shrinks || !isShrinkable(error)) return Failure.of({ store, scenario, error, world });
  const picks = await shrink(store, scenario, { picks: world.taken, kind: kindOf(error) });
  const shown = new Simulation(store, scenario, { drawn: true });
  const found = await failWith(shown, picks);
  return Failure.of({ store, scenario, error: found ?? error, world: shown });
}

/**
 * Runs one schedule by its picks, carrying on with the first choice when they are used up; returns what went wrong.
 *
 * `place` makes a pick a place among so many choices: tokens are exact, generated picks are taken modulo.
 */
export async function failWith<DB>(
  world: Simulation<DB>,
  picks: readonly number[],
  place: (pick: number, of: number) => number = (pick) => pick,
): Promise<Error | undefined> {
  let at = 0;
  return failIn(world, () => world.run((choices) => place(picks[at++] ?? 0, choices.length)));
}

/** Runs one schedule to its end and what follows it; returns what went wrong. */
export async function failIn<DB>(world: Simulation<DB>, run: () => Promise<Ending>): Promise<Error | undefined> {
  try {
    if ((await run()) === 'end') await recoverAndCheck(world);
    return undefined;
  } catch (error) {
    if (isFinding(error)) return error;
    throw error;
  } finally {
    await world.leave();
  }
}
