import { amount, number, oneOf, optional, type RulesOf, requestOf, string } from '../../core/request.js';
import type { Failure } from '../failure/failure.js';
import { vacuity } from '../failure/failure.js';
import { loadPeer } from '../store/load-peer.js';
import type { AnyTables, TestStore } from '../store/store.js';
import { Interner } from '../world/interner.js';
import { LifeMemory } from '../world/life-memory.js';
import { recoverAndCheck } from '../world/recovery.js';
import type { Pick } from '../world/run-options.js';
import { checkScenario, type Scenario } from '../world/scenario.js';
import { Simulation } from '../world/simulation.js';
import { TooLong } from '../world/trouble.js';
import { Count } from './count.js';
import { failureOf } from './failing.js';
import type { Report } from './report.js';
import { carry } from './search.js';
import { missed, silent } from './silent.js';
import { pctWalk, type Strategy, uniformWalk } from './walks.js';

/** How a scenario is fuzzed. */
export interface FuzzOptions {
  /** The seed: equal seeds draw equal schedules. Default: drawn, and named in the failure. */
  readonly seed?: number;
  /** Where to resume, as fast-check reports it. */
  readonly path?: string;
  /** How many schedules. Default: 1,000. */
  readonly runs?: number;
  /** The longest list of picks that is drawn; a schedule goes on after it without switching. Default: 64. */
  readonly depth?: number;
  /** Stops after this much real time, in milliseconds. Default: none. */
  readonly maxMs?: number;
  /** A schedule of more steps fails as a livelock. Default: 400. */
  readonly maxSteps?: number;
  /** How schedules are drawn. Default: `uniform`. */
  readonly strategy?: Strategy;
}

const checkOptions = requestOf(
  {
    seed: optional(number),
    path: optional(string),
    runs: optional(amount, 1_000),
    depth: optional(amount, 64),
    maxMs: optional(amount, Number.POSITIVE_INFINITY),
    maxSteps: optional(amount, 400),
    strategy: optional(oneOf<Strategy>('uniform', 'pct'), 'uniform'),
  } satisfies RulesOf<FuzzOptions>,
  'options',
);

const checkLength = requestOf({ maxLength: optional(amount, 64) }, 'options');

/**
 * Runs random schedules of a scenario that is too large to exhaust; fast-check draws them and shrinks the one that fails.
 *
 * Needs fast-check, which is loaded here and nowhere else. The report is never `complete`.
 *
 * @example
 * ```ts
 * import { assertHolds, fuzz } from 'transition-ownership/testing';
 * import { scenario, store } from './scenario.js';
 *
 * assertHolds(await fuzz(store, scenario, { runs: 100, seed: 7 }), { complete: false });
 * ```
 */
export async function fuzz<DB = AnyTables>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  options: FuzzOptions = {},
): Promise<Report> {
  checkScenario(scenario);
  const { runs, depth, strategy, maxSteps, maxMs, seed, path } = checkOptions(options);
  const fc = await loadPeer('fast-check', () => import('fast-check'));
  await store.open();
  const begunMs = performance.now();
  const count = new Count();
  const shared = { interner: new Interner(), lives: new LifeMemory(), spoken: carry().spoken };
  let last: { readonly world: Simulation<DB>; readonly error: unknown } | undefined;
  const walk = (picks: readonly number[]): Pick => (strategy === 'pct' ? pctWalk(picks, depth) : uniformWalk(picks));
  const property = fc.asyncProperty(
    fc.array(fc.nat(pickRange), { maxLength: strategy === 'pct' ? 12 : depth, size: 'max' }),
    async (picks) => {
      if (last === undefined && performance.now() - begunMs > maxMs) return;
      const world = new Simulation(store, scenario, { ...shared, maxSteps });
      let cut = false;
      try {
        const ending = await world.run(walk(picks));
        if (ending === 'end') await recoverAndCheck(world);
        cut = ending === 'cut';
      } catch (error) {
        last = { world, error };
        cut = error instanceof TooLong;
        throw error;
      } finally {
        await world.leave();
        count.add(world, cut);
      }
    },
  );
  const checked = await fc.check(property, {
    numRuns: runs,
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path }),
  });
  const failure: Failure | undefined =
    checked.failed && last !== undefined
      ? await failureOf(store, scenario, { ...last, shrinks: true })
      : (vacuity(scenario, count.faultsMet) ?? missed(shared.spoken));
  return {
    complete: false,
    ...count.totals(),
    states: 0,
    ms: performance.now() - begunMs,
    covered: `${count.schedules.toLocaleString('en')} random schedules`,
    warnings: [...count.warnings(), ...silent(shared.spoken)],
    ...(failure === undefined ? {} : { failure }),
  };
}

/** The two makers of fast-check that a schedule is drawn with: any 4.x module has them. */
export interface ArbitraryMakers<Natural, Picks> {
  /** Draws a whole number from 0 to a maximum. */
  nat(constraints: { readonly max: number }): Natural;
  /** Draws a list. */
  array(each: Natural, constraints: { readonly maxLength: number; readonly size: 'max' }): Picks;
}

/**
 * A schedule as an arbitrary, to mix with your own in a property; `replay(store, scenario, picks)` runs it.
 *
 * @param fc - Your fast-check.
 * @param options - `maxLength`: the longest list of picks. Default: 64.
 * @example
 * ```ts
 * import fc from 'fast-check';
 * import { Failure, replay, scheduleArbitrary } from 'transition-ownership/testing';
 * import { scenario, store } from './scenario.js';
 *
 * const property = fc.asyncProperty(scheduleArbitrary(fc), async (picks) => {
 *   const run = await replay(store, scenario, picks);
 *   if (run instanceof Failure) throw run;
 * });
 * await fc.assert(property, { numRuns: 10 });
 * ```
 */
export function scheduleArbitrary<Natural, Picks>(
  fc: ArbitraryMakers<Natural, Picks>,
  options: { readonly maxLength?: number } = {},
): Picks {
  const { maxLength } = checkLength(options);
  return fc.array(fc.nat(pickRange), { maxLength, size: 'max' });
}

/** Larger than most lists of choices; a pick is taken modulo, and shrinks towards 0: carry on. */
const pickRange = Object.freeze({ max: 63 });
