import { checkFunction, checkObject } from '../../core/check.js';
import { callable, object, optional, type Rule, requestOf } from '../../core/request.js';
import type { AnyTables, Awaitable } from '../store/store.js';
import { type Faults, faultRules } from './faults.js';
import type { Check, Invariant } from './invariant.js';
import type { ProcessMain } from './process.js';
import type { Point, World } from './view.js';

/**
 * What is run: some processes, the faults that may befall them, and what must hold.
 *
 * All state outside the database belongs into `setup`, which runs before each schedule.
 *
 * @example
 * ```ts
 * import { invariant, perStart, type Scenario } from 'transition-ownership/testing';
 * import { type Tables, worker } from './scenario.js'; // a process: worker({ db, effect, clock, … })
 *
 * const scenario: Scenario<Tables> = {
 *   processes: { A: perStart(() => worker), B: perStart(() => worker) },
 *   faults: { crashes: 1, restarts: 1, clockJumps: 1 },
 *   invariant: invariant('one row per task', (world) => world.rows('task').length <= 1),
 * };
 * ```
 */
export interface Scenario<DB = AnyTables> {
  /**
   * The processes by name; all are ready to start when the schedule begins.
   *
   * What a process keeps in memory must belong to one start of it: write `perStart(() => worker())`, or name a file
   * (from the working directory, or as a URL) whose default export it is. The file is loaded afresh for each start; what
   * that imports is not. What is found to outlive a start fails the search.
   */
  readonly processes: Readonly<Record<string, ProcessMain<DB> | string | URL>>;
  /** The faults of each schedule. Default: none. */
  readonly faults?: Faults;
  /** Runs before each schedule, on empty tables: seeds rows and resets whatever the test keeps outside the database. */
  readonly setup?: (world: World<DB>) => Awaitable<unknown>;
  /** Must hold after every step. */
  readonly invariant?: Check<DB> | Invariant<DB> | readonly (Check<DB> | Invariant<DB>)[];
  /** Must hold at the end of every schedule, before anything is healed. */
  readonly finally?: Check<DB> | Invariant<DB> | readonly (Check<DB> | Invariant<DB>)[];
  /**
   * Must hold once the faults are over: the disk has room, time has passed every expiry in sight, and a fresh start of
   * `recover` has run to its end. Liveness, in other words.
   */
  readonly eventually?: Check<DB> | Invariant<DB> | readonly (Check<DB> | Invariant<DB>)[];
  /** What the fresh start before `eventually` runs. Default: every process of the scenario, one after another. */
  readonly recover?: ProcessMain<DB> | string | URL;
  /**
   * What the test keeps outside the database, as plain data. Two schedules that led to the same tables and the same
   * `outside` are not told apart. Default: the exact order of all effects, which is always right and merges least.
   */
  readonly outside?: () => unknown;
  /** The instants, in milliseconds, that clocks jump around. Default: every `expires_ms` and `deadline_ms` in sight. */
  readonly expiries?: (world: World<DB>) => readonly number[];
  /** Whether a process may end by throwing this. Default: only by an injected error. */
  readonly mayThrow?: (error: unknown) => boolean;
  /** Whether two statements of different processes may be swapped. Used to reduce only. Default: if both only read. */
  readonly independent?: (a: Point, b: Point) => boolean;
}

/** What a process runs: a function, or the file that has it. */
const main: Rule<unknown> = (name) => (value) => {
  if (typeof value !== 'string' && !(value instanceof URL)) checkFunction(name, value);
  return value;
};

/** One for each process, and at least one: whatever is demanded of none of them would hold. */
const mains: Rule<object> = (name) => (value) => {
  checkObject(name, value);
  const processes = Object.entries(value);
  if (processes.length === 0) throw new TypeError(`${name} must have at least one process, got {}`);
  for (const [process, source] of processes) main(`${name}.${process}`)(source);
  return value;
};

/** A check, a named rule, or several of either. */
const checks: Rule<unknown> = (name) => (value) => {
  for (const each of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
    if (typeof each !== 'function')
      checkFunction(`${name}.check`, (each as { readonly check?: unknown } | null)?.check);
  }
  return value;
};

/** Throws for a scenario that would leave out something of what was meant: a misspelled fault never happens. */
export const checkScenario = requestOf(
  {
    processes: mains,
    faults: optional(object(faultRules)),
    setup: optional(callable),
    invariant: optional(checks),
    finally: optional(checks),
    eventually: optional(checks),
    recover: optional(main),
    outside: optional(callable),
    expiries: optional(callable),
    mayThrow: optional(callable),
    independent: optional(callable),
  } satisfies Readonly<Record<keyof Scenario, Rule<unknown>>>,
  'scenario',
);
