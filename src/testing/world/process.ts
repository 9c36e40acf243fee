import type { Kysely } from 'kysely';
import type { Clock } from '../../index.js';
import type { Ports } from '../../port/ports.js';
import type { AnyTables, Awaitable } from '../store/store.js';
import type { CreateOwnership } from './create-ownership.js';

/** The clock of a simulated process: virtual, so that nothing ever really waits. */
export interface ProcessClock extends Clock {
  /** The wall clock, in milliseconds; with the process's skew, if the scenario gives it one. */
  readonly now: () => number;
}

/**
 * One start of a simulated process, as its code sees it.
 *
 * Every statement of `db`, every `effect`, `work`, sleep, timer, start and exit is a *point*: there the process parks
 * until the world lets it go on, and there it can be killed. Between points JavaScript runs to completion, so the
 * interleavings of points are all the interleavings there are. Awaiting anything else fails the schedule.
 */
export interface Process<DB = AnyTables> {
  /** The database, over a connection of its own. */
  readonly db: Kysely<DB>;
  /** The name in the scenario. */
  readonly name: string;
  /** The simulated operating system's number. A restart may get another or, pids being reused, the same. */
  readonly pid: number;
  /** A nonce per start. */
  readonly bootId: string;
  /** 1, then 2 after a restart, and so on. */
  readonly incarnation: number;
  /** Virtual time. */
  readonly clock: ProcessClock;
  /** Identity, clock, pid table, claim registry and chance of this start: what an ownership is wired to. */
  readonly ports: Ports;
  /** Makes an ownership wired to this process; takes what you pass to `createTransitionOwnership`, without `db`. */
  readonly createOwnership: CreateOwnership<DB>;
  /** A number from 0 up to but not including 1; the same in every run of one schedule. */
  readonly random: () => number;
  /**
   * Does one thing outside the database (an HTTP call, a file, a mail) as one indivisible step.
   *
   * The step can be delayed, fail, lose its reply, or die before it. It must not touch the database.
   *
   * @example
   * ```ts
   * import type { Process } from 'transition-ownership/testing';
   *
   * const charge = async (process: Process, bank: Set<number>): Promise<void> => {
   *   await process.effect('POST /charge', () => bank.add(1));
   * };
   * ```
   */
  readonly effect: <T>(label: string, run: () => Awaitable<T>) => Promise<T>;
  /** Wraps a client so that each call of one of its methods is such an effect, named `label.method`. */
  readonly port: <T extends object>(label: string, client: T) => Ported<T>;
  /**
   * A moment of the process's own work, which touches nothing.
   *
   * Put one between operations: without it the next call is glued to the result of the last, and a whole class of
   * stale writers hides.
   */
  readonly work: (label?: string) => Promise<void>;
  /** Notes a fact for the invariants; the code under test never sees it. */
  readonly ghost: (fact: Readonly<Record<string, unknown>>) => void;
  /** Runs one operation of the history that `checkLinearizable` judges. If it throws or dies, its outcome is unknown. */
  readonly op: <O>(input: unknown, run: () => PromiseLike<O>) => Promise<O>;
}

/** A client of which each method has become a step: it answers later, whatever it answered before. */
export type Ported<T> = {
  readonly [Member in keyof T]: T[Member] extends (...params: infer Params) => infer Answer
    ? (...params: Params) => Promise<Awaited<Answer>>
    : T[Member];
};

/** What a scenario runs as one process. */
export type ProcessMain<DB = AnyTables> = (process: Process<DB>) => Promise<unknown>;
