import { checkFunction, checkObject } from '../../core/check.js';
import { callable, object, optional, type Rule, requestOf } from '../../core/request.js';
import type { AnyTables, Awaitable } from '../store/store.js';
import { type Faults, faultRules } from './faults.js';
import type { Invariant } from './invariant.js';
import type { ProcessMain } from './process.js';
import type { Point, World } from './view.js';

/** A check by hand: throws, or answers `false` or a sentence, when the world is wrong. Other answers say nothing. */
export type Check<DB = AnyTables> = (world: World<DB>) => Awaitable<unknown>;

/**
 * What is run: some processes, the faults that may befall them, and what must hold.
 *
 * All state outside the database belongs into `setup`, which runs before each schedule.
 *
 * @example
 * ```ts
 * import { invariant, type Scenario } from 'transition-ownership/testing';
 * import { type Tables, worker } from './scenario.js'; // a process: worker({ db, effect, clock, … })
 *
 * const scenario: Scenario<Tables> = {
 *   processes: { A: worker, B: worker },
 *   faults: { crashes: 1, restarts: 1, clockJumps: 1 },
 *   invariant: invariant('one row per task', (world) => world.rows('task').length <= 1),
 * };
 * ```
 */
export interface Scenario<DB = AnyTables> {
  /** The processes by name; all are ready to start when the schedule begins. */
  readonly processes: Readonly<Record<string, ProcessMain<DB>>>;
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
  readonly recover?: ProcessMain<DB>;
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

/** A function for each process. */
const mains: Rule<object> = (name) => (value) => {
  checkObject(name, value);
  for (const [process, main] of Object.entries(value)) checkFunction(`${name}.${process}`, main);
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

/** Refuses a scenario that would leave out something of what was meant: a misspelled fault never happens. */
export const checkScenario = requestOf(
  {
    processes: mains,
    faults: optional(object(faultRules)),
    setup: optional(callable),
    invariant: optional(checks),
    finally: optional(checks),
    eventually: optional(checks),
    recover: optional(callable),
    outside: optional(callable),
    expiries: optional(callable),
    mayThrow: optional(callable),
    independent: optional(callable),
  } satisfies Readonly<Record<keyof Scenario, Rule<unknown>>>,
  'scenario',
);
