import { amount, optional, type RulesOf, requestOf } from '../../core/request.js';
import type { Failure } from '../failure/failure.js';
import type { AnyTables, TestStore } from '../store/store.js';
import type { Choice } from '../world/choice.js';
import { recoverAndCheck } from '../world/recovery.js';
import { checkScenario, type Scenario } from '../world/scenario.js';
import { Simulation } from '../world/simulation.js';
import { failureOf } from './failing.js';
import { Follower } from './follow.js';
import { movesOf } from './token.js';

/** How far `regressions` looks around each token. */
export interface RegressionBounds {
  /** How often a schedule may switch otherwise than its token does. Default: 1. */
  readonly preemptions?: number;
  /** Stops after this many schedules for each token. Default: 500. */
  readonly maxSchedules?: number;
}

const check = requestOf(
  { preemptions: optional(amount, 1), maxSchedules: optional(amount, 500) } satisfies RulesOf<RegressionBounds>,
  'bounds',
);

/** What became of the failures that were once found. */
export interface Regressions {
  /** Schedules that were run: those of the tokens and those around them. */
  readonly schedules: number;
  /** The tokens of which a step is gone: nothing is said of what they kept, and new ones are to be found. */
  readonly unfit: readonly string[];
  /** The first failure that is back, or that was met beside one. */
  readonly failure?: Failure;
}

/** A schedule to run: a token's moves, some of them replaced by a switch to another process. */
interface Detour {
  /** Places of choices, up to the switch. */
  readonly picks: readonly number[];
  /** What is followed from there. */
  readonly moves: readonly string[];
  readonly switches: number;
}

/**
 * Runs the schedules of kept tokens again, and then those around each that switch once more: a mistake that moved by a
 * statement is found where it went.
 *
 * Never says that all is well, but that what was once found is not there: {@link Regressions.unfit} are tokens that say
 * nothing any more.
 *
 * @param tokens - From failures of this scenario.
 * @example
 * ```ts
 * import { explore, regressions } from 'transition-ownership/testing';
 * import { scenario, store } from './scenario.js';
 *
 * const { failure } = await explore(store, { ...scenario, invariant: () => false });
 * const kept = failure === undefined ? [] : [failure.token];
 * const { failure: back, unfit } = await regressions(store, scenario, kept);
 * console.log(back?.violated, unfit.length);
 * ```
 */
export async function regressions<DB = AnyTables>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  tokens: readonly string[],
  bounds: RegressionBounds = {},
): Promise<Regressions> {
  checkScenario(scenario);
  const { preemptions, maxSchedules } = check(bounds);
  const kept = tokens.map((token) => ({ token, moves: movesOf(scenario, token) }));
  await store.open();
  const unfit: string[] = [];
  let schedules = 0;
  for (const { token, moves } of kept) {
    const open: Detour[] = [{ picks: [], moves, switches: 0 }];
    const end = schedules + maxSchedules;
    for (let detour = open.shift(); detour !== undefined && schedules < end; detour = open.shift()) {
      const run = await follow(store, scenario, detour);
      schedules++;
      if (run.failure !== undefined) return { schedules, unfit, failure: run.failure };
      if (detour.switches === 0 && !run.fits) unfit.push(token);
      if (detour.switches < preemptions) open.push(...run.beside);
    }
  }
  return { schedules, unfit };
}

/** Runs one detour; returns those that leave it for another process, each at one of its steps. */
async function follow<DB>(store: TestStore<DB>, scenario: Scenario<DB>, { picks, moves, switches }: Detour) {
  const world = new Simulation(store, scenario);
  const follower = new Follower(moves);
  const beside: Detour[] = [];
  const pick = (choices: readonly Choice[]) => {
    const depth = world.taken.length;
    const given = picks[depth];
    if (given !== undefined) return given;
    const ahead = follower.left;
    const at = follower.pick(choices, world.state.nowMs);
    const taken = choices[at];
    for (const [other, choice] of choices.entries()) {
      if (choice.kind !== 'step' || (taken?.kind === 'step' && choice.by === taken.by)) continue;
      beside.push({ picks: [...world.taken, other], moves: ahead, switches: switches + 1 });
    }
    return at;
  };
  let failure: Failure | undefined;
  try {
    if ((await world.run(pick)) === 'end') await recoverAndCheck(world);
  } catch (error) {
    failure = await failureOf(store, scenario, { world, error, shrinks: true });
  }
  await world.leave();
  return { failure, beside, fits: follower.fits && follower.isThrough };
}
