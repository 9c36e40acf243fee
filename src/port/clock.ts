/** A scheduled callback that can be taken back. */
export interface ScheduledCall {
  /** Takes the call back; does nothing when it has run or was cancelled before. */
  cancel(): void;
}

/** How a call is scheduled. */
export interface ScheduleOptions {
  readonly background?: boolean;
  readonly keepAlive?: boolean;
}

/**
 * Time as one process sees it. It only ever shortens a holder's own trust: what is expired is decided by
 * the clock of the database.
 */
export interface Clock {
  /** Milliseconds that never go backwards, with an arbitrary origin. */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch; may jump. */
  wallMs(): number;
  /** Resolves after `ms`. Used between two tries of one statement, so it does keep the process alive. */
  sleep(ms: number): Promise<void>;
  /**
   * Calls `call` once after `ms` (any size, also above the 24.8 days of a native timer). It never keeps the process
   * alive, unless `keepAlive` asks for that.
   *
   * `background` marks what goes on beside the work and is awaited by none of it, as renewals are.
   */
  schedule(ms: number, call: () => void, options?: ScheduleOptions): ScheduledCall;
  /**
   * Resolves when the event loop has had a turn. Without it the library never gives the event loop one by itself: a
   * virtual clock needs none.
   */
  turn?(): Promise<void>;
}
