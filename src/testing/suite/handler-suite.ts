import { checkObject } from '../../core/check.js';
import { by, callable, limit, list, object, optional, type Rule, requestOf, text } from '../../core/request.js';
import type { AnyTables, Awaitable, TestStore } from '../store/store.js';
import { type Faults, faultRules } from '../world/faults.js';
import { invariant } from '../world/invariant.js';
import type { Ported, Process, ProcessMain } from '../world/process.js';
import type { Scenario } from '../world/scenario.js';
import type { World } from '../world/view.js';
import { drive, theTask } from './drive.js';
import { afterAll, boundsOf, examine, type Level, levelRule, type Runner } from './runner.js';
import { openForSuite, seedTasks, stageOf } from './suite-tables.js';

/** One handler: does what its stage demands, and answers the next stage. */
export type StageHandler<S extends string, Outside, DB> = (
  process: Process<DB>,
  task: number,
  outside: { readonly [Name in keyof Outside]: Ported<Outside[Name]> },
) => Promise<S>;

/** The stages of a task, and the handlers that move it through them. */
export interface StageMachine<S extends string, Outside, DB> {
  /** Where a task begins. */
  readonly initial: S;
  /** Where it may end. */
  readonly final: readonly S[];
  /** A handler for each stage that is not final. */
  readonly handlers: Partial<Record<S, StageHandler<S, Outside, DB>>>;
}

/** What `handlerSuite` is given. */
export interface HandlerSuiteOptions<S extends string, Outside extends Record<string, object>, DB> {
  /** Makes the store. */
  readonly store: () => Awaitable<TestStore<DB>>;
  /** Your stages and handlers. */
  readonly machine: StageMachine<S, Outside, DB>;
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
    machine: object({ initial: text, final: list(text), handlers: by(checkObject) } satisfies Readonly<
      Record<keyof StageMachine<string, object, AnyTables>, Rule<unknown>>
    >),
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
 *   machine: {
 *     initial: 'charge',
 *     final: ['done'],
 *     handlers: {
 *       charge: async (_process, task, { bank }) => {
 *         await bank.charge(task);
 *         return 'done';
 *       },
 *     },
 *   },
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
      const run = async () => examine(await store(), scenarioOf(options, faults), level);
      runner.test(`keep their promises when ${title}`, run, timeoutMs);
    }
    afterAll(runner, async () => (await opened)?.close());
  });
}

function scenarioOf<S extends string, Outside extends Record<string, object>, DB>(
  options: HandlerSuiteOptions<S, Outside, DB>,
  faults: Faults,
): Scenario<DB> {
  const { machine } = options;
  let outside = (options.outside?.() ?? {}) as Outside;
  const main: ProcessMain<DB> = (process) => drive(process, machine, { outside });
  const names = Array.from({ length: options.processes ?? 2 }, (_, at) => String.fromCodePoint(65 + at));
  return {
    processes: Object.fromEntries(names.map((name) => [name, main])),
    faults,
    setup: async ({ store }) => {
      outside = (options.outside?.() ?? {}) as Outside;
      await seedTasks(store, { [theTask]: machine.initial });
    },
    outside: () => outside,
    invariant: invariant<DB>('the invariant of the handlers', (world) => options.invariant?.(outside, world)),
    eventually: [
      invariant<DB>('the task gets to a final stage', (world) => {
        const stage = stageOf(world, theTask);
        return (machine.final as readonly string[]).includes(stage) || `it stays at ${stage}`;
      }),
      invariant<DB>('what the handlers promise in the end', (world) => options.eventually?.(outside, world)),
    ],
  };
}
