import type { Observer } from '../core/observer.js';
import type { Dialect } from '../dialect/dialect.js';
import type { Randomness } from '../port/randomness.js';
import type { ConnectionQueue } from './connection-queue.js';
import type { Patience } from './given-up.js';
import type { TransactionState } from './transaction-state.js';
import type { Place } from './waiting.js';

/** Where statements are sent, and what sending them needs. */
export interface Session extends Place {
  /** True on a caller's transaction: nothing is retried there, for the caller alone can begin it again. */
  readonly inTransaction: boolean;
  readonly dialect: Dialect;
  /** The queue in front of a database with one connection; none in a transaction, which has the connection. */
  readonly queue: ConnectionQueue | undefined;
  /** Statements that sessions refused at first, and how they took them. */
  readonly insisting: Map<string, string>;
  readonly randomness: Randomness;
  readonly observer: Observer;
  /** What is known of the caller's transaction; none outside of one, and in one of the library's own. */
  readonly transaction: TransactionState | undefined;
  /** What ends the wait for a connection; none where nothing does. */
  readonly patience?: Patience | undefined;
}
