import { checkObject } from '../../core/check.js';
import { by, callable, limit, object, optional, type Rule, requestOf, text } from '../../core/request.js';
import { Failure } from '../failure/failure.js';
import { runAgainBy } from '../search/again.js';
import { replay } from '../search/replay.js';
import { isFor } from '../search/token.js';
import type { AnyTables, Awaitable, TestStore } from '../store/store.js';
import { type Faults, faultRules } from '../world/faults.js';
import { invariant, reached } from '../world/invariant.js';
import type { ProcessMain } from '../world/process.js';
import type { Scenario } from '../world/scenario.js';
import type { World } from '../world/view.js';
import { drive, stopOf, theTask } from './drive.js';
import { afterAll, boundsOf, examine, type Level, levelRule, type Runner } from './runner.js';
import { type MachineOfLife, machineOf, machineRule } from './stage-machine.js';
import { openForSuite, seedTasks, stageOf } from './suite-tables.js';

/** What `handlerSuite` is given. */
export interface HandlerSuiteOptions<S extends string, Outside extends Record<string, object>, DB> {
  /** Makes the store. */
  readonly store: () => Awaitable<TestStore<DB>>;
  /**
   * Your stages and handlers: a function makes them anew for each start of a process, as a start of yours would. What
   * handlers share in memory would else be shared by all processes, and outlive a kill.
   */
  readonly machine: MachineOfLife<S, Outside, DB>;
  /**
   * Makes fakes of what the handlers touch, fresh for each schedule, of plain data and methods. Handlers get them
   * wrapped, so that each call of a method is a step that can die, fail, or lose its answer.
   */
  readonly outside?: () => Outside;
  /** Must hold after every step: throws, or returns `false` or a sentence. `charged at most once`. */
  readonly invariant?: (outside: Outside, world: World<DB>) => Awaitable<boolean | string | undefined | void>;
  /** Must hold when the faults are over: `charged exactly once, and shipped`. */
  readonly eventually?: (outside: Outside, world: World<DB>) => Awaitable<boolean | string | undefined | void>;
  /** What must be so in some schedule of each test at least, by its name; else the test proves nothing of it. */
  readonly reached?: Readonly<Record<string, (outside: Outside, world: World<DB>) => boolean>>;
  /** The faults, in place of the suite's own list of scenarios. */
  readonly faults?: Faults;
  /** How many processes want to move the task. Default: 2. */
  readonly processes?: number;
  /** How thorough. Default: `quick`. */
  readonly level?: Level;
  /**
   * Runs this one schedule in place of all: the line that a failing suite prints, pasted here. Fails as it did, or says
   * that a step of it is gone.
   */
  readonly replay?: string;
}

const check = requestOf(
  {
    store: callable,
    machine: machineRule,
    outside: optional(callable),
    invariant: optional(callable),
    eventually: optional(callable),
    reached: optional(by(checkObject)),
    faults: optional(object(faultRules)),
    processes: optional(limit()),
    level: optional(levelRule),
    replay: optional(text),
  } satisfies Readonly<Record<keyof HandlerSuiteOptions<string, Record<string, object>, AnyTables>, Rule<unknown>>>,
  'options',
);

const everyFault: Readonly<Record<string, Faults>> = Object.freeze({
  'nothing goes wrong': {},
  'a process is killed at any point and started again': { crashes: 1, restarts: 1 },
  'a process stands still until its lease is over': { clockJumps: 1 },
  'an answer is lost': { lostReplies: 1 },
  'a statement or call fails': { failures: 1 },
});

/**
 * Defines tests that run your stage handlers under the library, in every interleaving and with every fault.
 *
 * Each process takes the task's lease, runs the handler of its stage, and moves the stage by compare-and-swap, until a
 * final stage is reached. In every schedule the task must get to a final stage once the faults are over. So a handler
 * takes no lease and writes no stage; code that does both itself is run by `explore`.
 *
 * A broken promise is thrown to the runner as a `Failure`: a `test` of yours around the runner's can keep its `html()`.
 * It ends with the line `replay: '…',` which, pasted into the options, runs that schedule alone.
 *
 * @param runner - Your test runner: `{ describe, test, afterAll }` of vitest or jest, `{ describe, test, after }` of node:test.
 * @param options - Your machine, and what must hold.
 * @example
 * ```ts
 * import { handlerSuite, sqliteFileStore } from 'transition-ownership/testing';
 * import { runner } from './scenario.js'; // { describe, test, afterAll } of vitest or jest
 *
 * const bank = () => ({
 *   charged: [] as number[],
 *   charge(order: number): void {
 *     this.charged.push(order);
 *   },
 * });
 *
 * handlerSuite(runner, {
 *   store: () => sqliteFileStore(),
 *   outside: () => ({ bank: bank() }),
 *   machine: () => ({
 *     initial: 'charge',
 *     final: ['done'],
 *     handlers: {
 *       charge: async (_process, task, { bank }) => {
 *         await bank.charge(task);
 *         return 'done';
 *       },
 *     },
 *   }),
 *   invariant: ({ bank }) => bank.charged.length <= 1,
 * });
 * ```
 */
export function handlerSuite<S extends string, Outside extends Record<string, object>, DB = AnyTables>(
  runner: Runner,
  options: HandlerSuiteOptions<S, Outside, DB>,
): void {
  check(options);
  const { level = 'quick' } = options;
  const { timeoutMs } = boundsOf(level);
  const cases = options.faults === undefined ? everyFault : { 'the given faults': options.faults };
  let opened: Promise<TestStore<DB>> | undefined;
  const store = () => {
    opened ??= Promise.resolve(options.store()).then((made) => openForSuite(made));
    return opened;
  };
  runner.describe('stage handlers', () => {
    const { replay: token } = options;
    if (token !== undefined) {
      const all = Object.values(cases).map((faults) => scenarioOf(options, faults));
      runner.test('the schedule that is replayed', async () => replayed(await store(), all, token), timeoutMs);
    }
    for (const [title, faults] of token === undefined ? Object.entries(cases) : []) {
      const name = `keep their promises when ${title}`;
      runner.test(
        name,
        async () => examine(await store(), scenarioOf(options, faults), { title: name, level, runner }),
        timeoutMs,
      );
    }
    afterAll(runner, async () => (await opened)?.close());
  });
}

function scenarioOf<S extends string, Outside extends Record<string, object>, DB>(
  options: HandlerSuiteOptions<S, Outside, DB>,
  faults: Faults,
): Scenario<DB> {
  const { processes = 2, invariant: always, eventually: inTheEnd } = options;
  const { initial, final } = machineOf(options.machine);
  let outside = (options.outside?.() ?? {}) as Outside;
  const main: ProcessMain<DB> = (process) => drive(process, machineOf(options.machine), { outside });
  const names = Array.from({ length: processes }, (_, at) => String.fromCodePoint(65 + at));
  const scenario: Scenario<DB> = {
    processes: Object.fromEntries(names.map((name) => [name, main])),
    faults,
    setup: async ({ store }) => {
      outside = (options.outside?.() ?? {}) as Outside;
      await seedTasks(store, { [theTask]: initial });
    },
    outside: () => outside,
    invariant: [
      ...(always === undefined
        ? []
        : [invariant<DB>('the invariant of the handlers', (world) => always(outside, world))]),
      ...Object.entries(options.reached ?? {}).map(([title, is]) => reached<DB>(title, (world) => is(outside, world))),
    ],
    eventually: [
      invariant<DB>('the task gets to a final stage', (world) => {
        const stage = stageOf(world, theTask);
        return (final as readonly string[]).includes(stage) || `it stays at ${stage}${whyOf(world)}`;
      }),
      ...(inTheEnd === undefined
        ? []
        : [invariant<DB>('what the handlers promise in the end', (world) => inTheEnd(outside, world))]),
    ],
  };
  runAgainBy(scenario, (token) => `replay: '${token}',`);
  return scenario;
}

/** Runs the schedule of a token in the scenario that it was made for. */
async function replayed<DB>(store: TestStore<DB>, all: readonly Scenario<DB>[], token: string): Promise<void> {
  const scenario = all.find((each) => isFor(each, token)) ?? all[0];
  if (scenario === undefined) return;
  const run = await replay(store, scenario, token);
  if (run instanceof Failure) throw run;
  if (!run.fits) throw new Error(`a step of ${token} is gone, so nothing is said of what it kept: find a new one`);
}

/** What kept the last tries from moving the task on, where a process could tell. */
function whyOf<DB>({ processes }: World<DB>): string {
  const reasons = processes.map(({ result }) => stopOf(result)).filter((reason) => reason !== undefined);
  return [...new Set(reasons)].map((reason) => `: ${reason}`).join('');
}
