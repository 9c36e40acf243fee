import { callable, optional, requestOf } from '../../core/request.js';
import type { AnyTables, TestStore } from '../store/store.js';
import { asText } from '../world/interner.js';
import type { ProcessMain } from '../world/process.js';
import { runFresh } from '../world/recovery.js';
import type { Scenario } from '../world/scenario.js';
import { Simulation } from '../world/simulation.js';
import type { Point, World } from '../world/view.js';

/** A crash after which things did not come out as they do without one. */
export interface Difference {
  /** Where the process was killed: what it was about to do. */
  readonly point: Point;
  /** What came out. */
  readonly got: unknown;
  /** What comes out without a crash. */
  readonly want: unknown;
}

const checkOptions = requestOf({ setup: optional(callable) }, 'options');

/** What `crashEverywhere` found. */
export interface CrashReport {
  /** How many points there were to be killed at. */
  readonly points: number;
  /** The crashes after which things came out differently. */
  readonly different: readonly Difference[];
}

/**
 * The shortest form of a crash test: kills a process at each of its points in turn, starts it again, and compares.
 *
 * After the kill it is restarted at once; then time passes every expiry, and it is started once more: what is lost by
 * then is lost. State outside the database must be reset in `setup`.
 *
 * @param store - Where it runs.
 * @param run - The process.
 * @param same - What is compared: the rows that matter, what was sent to the outside. Plain data.
 * @example
 * ```ts
 * import { crashEverywhere } from 'transition-ownership/testing';
 * import { scenario, store, worker } from './scenario.js';
 *
 * const { setup } = scenario;
 * const { points, different } = await crashEverywhere(store, worker, (world) => world.rows('task'), { setup });
 * console.log(points, different.length); // killed at each point and started again, it ends the same
 * ```
 */
export async function crashEverywhere<DB = AnyTables>(
  store: TestStore<DB>,
  run: ProcessMain<DB>,
  same: (world: World<DB>) => unknown,
  options: { readonly setup?: Scenario<DB>['setup'] | undefined } = {},
): Promise<CrashReport> {
  checkOptions(options);
  await store.open();
  const scenario: Scenario<DB> = {
    ...(options.setup === undefined ? {} : { setup: options.setup }),
    processes: { A: run },
    faults: { crashes: 1, restarts: 1 },
    mayThrow: () => true,
  };
  const undisturbed = await crashAt(store, scenario, { step: Number.POSITIVE_INFINITY, same });
  const different: Difference[] = [];
  let points = 0;
  for (; ; points++) {
    const { point, came } = await crashAt(store, scenario, { step: points, same });
    if (point === undefined) return { points, different };
    if (asText(came) !== asText(undisturbed.came)) different.push({ point, got: came, want: undisturbed.came });
  }
}

interface Crash<DB> {
  readonly step: number;
  readonly same: (world: World<DB>) => unknown;
}

async function crashAt<DB>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  { step, same }: Crash<DB>,
): Promise<{ readonly point: Point | undefined; readonly came: unknown }> {
  const world = new Simulation(store, scenario);
  let point: Point | undefined;
  try {
    await world.begin();
    for (let choices = world.choices(); choices.length > 0; choices = world.choices()) {
      const kill = world.state.steps === step ? choices.find((choice) => choice.kind === 'kill') : undefined;
      if (kill?.kind === 'kill') point = kill.victim.pending[0];
      const going = choices.find((choice) => choice.kind === 'step' || choice.kind === 'advance');
      const next = kill ?? going ?? choices.find((choice) => choice.kind === 'restart');
      if (next === undefined) break;
      await world.take(next);
    }
    if (point !== undefined) await runFresh(world, Object.values(scenario.processes));
    // What is compared may be the test's own live state, which the next crash resets.
    return { point, came: structuredClone(same(world.state)) };
  } finally {
    await world.leave();
  }
}
