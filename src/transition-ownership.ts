import type { ResultAsync } from 'neverthrow';
import type { ContextCarrier } from './context.js';
import type { JsonId } from './core/event.js';
import type { NotGranting } from './core/failure.js';
import type { ProcessIdentity } from './core/process.js';
import type { Shape } from './shape.js';

/** How long `close` waits. */
export interface CloseOptions {
  /** The time for handlers to end, in ms, from 0 to a year. Default 10,000. */
  readonly deadlineMs?: number | undefined;
}

/** How long `idle` waits. */
export interface IdleOptions {
  /** Ends the wait when it fires. */
  readonly signal: AbortSignal;
}

/** What `close` left behind. */
export interface CloseReport {
  /** Leases that are still in use: they are left to expire, for their owners may still write. */
  readonly unfinished: readonly UnfinishedLease[];
}

/** A lease that was in use at the deadline. */
export interface UnfinishedLease {
  /** The task. */
  readonly taskId: JsonId;
  /** The token of its lease. */
  readonly fencingToken: number;
  /** Who holds it. */
  readonly actor: string;
}

/**
 * The library over your database: what every verb takes as its first argument.
 *
 * It is a value without methods of its own beyond its life: the verbs are functions.
 */
export interface TransitionOwnership<S extends Shape = Shape> extends ContextCarrier, AsyncDisposable {
  /** Only for the compiler: the types of your tasks and jobs. */
  readonly shape?: S;
  /** Who this process is, as its leases say. */
  readonly identity: ProcessIdentity;
  /**
   * The same ownership on a transaction of yours, or on another handle to the same database.
   *
   * On a transaction nothing is retried, and leases are provisional until the commit is seen. The handle spells
   * names as `db` of the ownership does: throws `TypeError` for one on another schema, or with other plugins that
   * rename.
   */
  using(db: CallersHandle): TransitionOwnership<S>;
  /**
   * Stops granting at once, fires the signals, waits for running handlers until the deadline, and leaves the
   * leases of unfinished work to expire. Calling it again waits for the same end.
   */
  close(options?: CloseOptions): ResultAsync<CloseReport, never>;
  /**
   * Waits until this process holds no lease of the ownership, with or without a row: what to wait for under mode
   * `draining` before it is switched further. Fails with `not-granting`, `aborted`, when the signal fires first.
   */
  idle(options: IdleOptions): ResultAsync<void, NotGranting>;
}

/** The caller's Kysely, or a transaction. */
export interface CallersHandle {
  /** True for a transaction. */
  readonly isTransaction: boolean;
}
