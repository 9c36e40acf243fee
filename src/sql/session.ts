import type { Dialect } from '../dialect/dialect.js';
import type { Clock } from '../port/clock.js';
import type { Randomness } from '../port/randomness.js';
import type { Observer } from '../runtime/observer.js';
import type { Turnstile } from '../runtime/turnstile.js';
import type { Database } from './statement.js';

/** Where statements are sent, and what sending them needs. */
export interface Session {
  readonly database: Database;
  /** True on a caller's transaction: nothing is retried there, for the caller alone can begin it again. */
  readonly inTransaction: boolean;
  readonly dialect: Dialect;
  /** The queue in front of a database with one connection; none in a transaction, which has the connection. */
  readonly turnstile: Turnstile | undefined;
  /** Statements that sessions refused at first, and how they took them. */
  readonly insisting: Map<string, string>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly observer: Observer;
}
