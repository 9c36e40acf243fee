import type { Incarnation } from './incarnation.js';
import type { Point } from './view.js';

/** A point at which a process is parked. */
export interface Parked extends Point {
  /** Numbers the points of one process, in the order it reached them. */
  readonly id: number;
  /** Who is parked. */
  readonly by: Incarnation;
  /** Virtual time from which a sleep or timer may go on; others may at once. */
  readonly wakeMs: number | undefined;
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

/** One thing that may happen next. */
export type Choice =
  | { readonly kind: 'step' | 'lost-reply'; readonly id: string; readonly parked: Parked }
  | { readonly kind: 'failure'; readonly id: string; readonly parked: Parked; readonly error: () => Error }
  | { readonly kind: 'kill'; readonly id: string; readonly victim: Incarnation }
  | { readonly kind: 'restart'; readonly id: string; readonly victim: Incarnation; readonly samePid: boolean }
  | { readonly kind: 'jump' | 'database-jump' | 'advance'; readonly id: string; readonly toMs: number }
  | { readonly kind: 'disk-full' | 'disk-healed'; readonly id: string };
