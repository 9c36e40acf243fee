import type { Dialect, Kysely, RawBuilder } from 'kysely';

/** A row as the driver hands it over. */
export type Row = Readonly<Record<string, unknown>>;

/** The rows of every table, in a stable order: what an invariant looks at and what a state is told apart by. */
export type Snapshot = Readonly<Record<string, readonly Row[]>>;

/** A schema for stores that are used without one: any table, any column. */
export type AnyTables = Record<string, Record<string, unknown>>;

/** Makes the tables of a store, once, before the first schedule. */
export type Migrate<DB> = (db: Kysely<DB>) => Promise<unknown>;

/** A value, or a promise of it: stores that need no I/O answer at once, which is most of the speed. */
export type Awaitable<T> = T | Promise<T>;

/** One connection of a simulated process. */
export interface TestConnection {
  /** The process's dialect, not yet gated. Its driver may open several sessions, as a pool does. */
  readonly dialect: Dialect;
  /** What the operating system does at `kill -9`: drops the connection, so that an open transaction is rolled back. */
  kill(): Awaitable<void>;
  /** Whether a transaction is open on this connection. */
  inTransaction(): boolean;
  /**
   * Servers only: whether all statements now running on this connection wait for another process's lock, as the server
   * says itself. A statement that waits stays in flight and is collected when its lock comes free.
   */
  blocked?(): Promise<boolean>;
  /**
   * Servers that take their time to notice a deadlock: refuses a statement of this connection that waits, as the server
   * would in the end, and returns the error that it then gives. Without it the world waits for the server.
   */
  refuse?(): Promise<Error>;
  /** Servers only: resolves when no further session is being opened. */
  settled?(): Promise<void>;
}

/** The errors that injected faults raise, as this database would word them. */
export interface StoreErrors {
  /** A statement that was refused and did nothing; retrying is right. */
  failed(): Error;
  /** A connection that was lost while the statement ran: its outcome is unknown. */
  connectionLost(): Error;
  /** A write that found no room. */
  diskFull(): Error;
}

/**
 * One database that several simulated processes share.
 *
 * Ready ones are `memoryStore`, `sqliteFileStore`, `postgresStore` and `mysqlStore`; `customStore` makes one of any
 * other dialect. A store is used by one exploration at a time.
 */
export interface TestStore<DB = AnyTables> {
  /** What a report calls it. */
  readonly name: string;
  /** A handle that is not gated: for `setup`, for invariants and for looking. */
  readonly admin: Kysely<DB>;
  /** The SQL expression of the virtual clock, in milliseconds. A simulated ownership takes it for its dialect's own. */
  readonly nowMs: RawBuilder<number>;
  /** The errors that injected faults raise. */
  readonly errors: StoreErrors;
  /** Makes the tables. Called before anything else; safe to call again. */
  open(): Promise<void>;
  /** A connection of its own for each simulated process; never a shared pool. */
  connect(): Awaitable<TestConnection>;
  /** Empties every table and resets every counter, before each schedule. */
  reset(): Awaitable<void>;
  /** Sets the virtual clock, in milliseconds; every connection sees it at its next statement. */
  setNow(nowMs: number): Awaitable<void>;
  /** The committed rows of every table, columns that real clocks fill left out. */
  snapshot(): Awaitable<Snapshot>;
  /**
   * Whether a statement changes nothing and calls nothing that may: two such statements may be swapped, and the tables
   * need not be read again after one. Default: judged by its text; a function that is not well known may act.
   */
  readsOnly?(text: string): boolean;
  /** Whether the statement could not run because of another's lock and has had no effect: it is offered again. */
  isBusy(error: unknown): boolean;
  /** Closes every connection and removes what the store has made. */
  close(): Promise<void>;
}

/** Columns that a real clock fills by default, left out of snapshots so that two equal runs look equal. */
export const realClockColumns: readonly string[] = Object.freeze(['acquired_at']);
