import type { CompiledQuery, QueryResult } from 'kysely';
import type { Trusted } from '../holding/holding.js';
import type { Clock } from '../port/clock.js';
import type { Database } from './statement.js';

/** Why a statement was not sent: whoever has the connection kept it for longer than it was to be waited for. */
export class ConnectionTaken extends Error {
  constructor(
    message = 'a transaction of yours may have the only connection: use ownership.using(trx)',
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ConnectionTaken';
  }
}

/** Where work is to be done, and how long it waits for that. */
export interface Place {
  readonly database: Database;
  readonly clock: Clock;
  /** The longest wait while nothing of the library passes the connection, in ms. */
  readonly busyWaitMs: number;
}

/** Someone who waits. A statement is sent as it is; work gets a handle on the connection to itself. */
export interface Waiting {
  readonly place: Place;
  readonly trusted: Trusted | undefined;
  readonly sinceMs: number;
  readonly job: Statement | Work;
  reject(cause: unknown): void;
}

/** A statement that is made when there is a connection to send it over; `undefined` if it is no longer wanted. */
export type LateQuery = () => CompiledQuery | undefined;

/** What a statement gives, or `elsewhere` for a pair that this connection cannot run as one. */
export type Sent = QueryResult<unknown> | 'elsewhere' | undefined;

/** A statement, or a pair of which the second runs where the first changed a row, and both or neither are committed. */
export interface Statement {
  readonly query: LateQuery;
  readonly whereChanged: CompiledQuery | undefined;
  /** Set once a commit with others was taken back. */
  alone: boolean;
  resolve(sent: Sent): void;
}

interface Work {
  run(connection: Database): Promise<void>;
}

/** How much longer someone waits, given for how long nothing has moved. */
export function leftOf({ place, trusted, sinceMs }: Waiting, stillMs: number): number {
  if (trusted !== undefined) return trusted.trustedForMs();
  return place.busyWaitMs - Math.min(stillMs, place.clock.monotonicMs() - sinceMs);
}
