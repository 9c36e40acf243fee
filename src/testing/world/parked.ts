import type { Point } from './view.js';

/** A point at which a process is parked. */
export interface Parked extends Point {
  /** Numbers the points of one process, in the order it reached them. */
  readonly id: number;
  /** Virtual time from which a sleep or timer may go on; others may at once. */
  readonly wakeMs: number | undefined;
  /** A timer that keeps nothing alive: its process goes on without it, or awaits something else. */
  readonly background: boolean;
  /** The state of the world in which it last met a lock; it is offered again when something moved. */
  blockedAt: number;
  /** Does what the process waits for. */
  run(): unknown;
  /** Lets the process go on. */
  resolve(answer: unknown): void;
  /** Lets the process go on with an error. */
  reject(error: unknown): void;
}

/** A statement that the database has taken and that waits there for a lock. */
export interface InFlight {
  readonly parked: Parked;
  readonly lostReply: boolean;
  readonly outcome: Promise<Outcome>;
}

/** How something that was run came out. */
export type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };
