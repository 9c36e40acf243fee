import { callable, limit, object, optional, type Rule, requestOf } from '../../core/request.js';
import type { AnyTables, Awaitable, TestStore } from '../store/store.js';
import { type Faults, faultRules } from '../world/faults.js';
import { invariant } from '../world/invariant.js';
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
  /** Must hold after every step: throws, or answers `false` or a sentence. `charged at most once`. */
  readonly invariant?: (outside: Outside, world: World<DB>) => Awaitable<boolean | string | undefined | void>;
  /** Must hold when the faults are over: `charged exactly once, and shipped`. */
  readonly eventually?: (outside: Outside, world: World<DB>) => Awaitable<boolean | string | undefined | void>;
  /** The faults, in place of the suite's own list of scenarios. */
  readonly faults?: Faults;
  /** How many processes want to move the task. Default: 2. */
  readonly processes?: number;
  /** How thorough. Default: `quick`. */
  readonly level?: Level;
}

const check = requestOf(
  {
    store: callable,
    machine: machineRule,
    outside: optional(callable),
    invariant: optional(callable),
    eventually: optional(callable),
    faults: optional(object(faultRules)),
    processes: optional(limit()),
    level: optional(levelRule),
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
 * Its schedule is run again by running the test again, for `replay` wants a scenario, and that of a suite is its own.
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
    for (const [title, faults] of Object.entries(cases)) {
      const name = `keep their promises when ${title}`;
      runner.test(
        name,
        async () => examine(await store(), scenarioOf(options, faults), { title: name, level }),
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
  return {
    processes: Object.fromEntries(names.map((name) => [name, main])),
    faults,
    setup: async ({ store }) => {
      outside = (options.outside?.() ?? {}) as Outside;
      await seedTasks(store, { [theTask]: initial });
    },
    outside: () => outside,
    ...(always === undefined
      ? {}
      : { invariant: invariant<DB>('the invariant of the handlers', (world) => always(outside, world)) }),
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
}

/** What kept the last tries from moving the task on, where a process could tell. */
function whyOf<DB>({ processes }: World<DB>): string {
  const reasons = processes.map(({ result }) => stopOf(result)).filter((reason) => reason !== undefined);
  return [...new Set(reasons)].map((reason) => `: ${reason}`).join('');
}
