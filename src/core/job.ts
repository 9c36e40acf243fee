import type { IdValue } from './id.js';

/** A job as it was seen, and the run that had it: what a compare-and-swap on it compares. */
export interface SeenJob {
  readonly jobId: IdValue;
  readonly taskId: IdValue | null;
  readonly runId: IdValue | null;
  readonly pid: number | null;
  /** Its `started_at` as text that no other instant of the column has. */
  readonly started: string | null;
  /** Its `started_at` as the driver gave it. */
  readonly startedAt: unknown;
  /** The nonce of the claim that it carries; `null` where none is mapped. */
  readonly claim: string | null;
}

/** A job with everything that is read of it. */
export interface JobRecord extends SeenJob {
  readonly host: string | null;
  readonly pidStart: string | null;
  /** `null` where it has not been started, or its `started_at` cannot be read. */
  readonly startedAtMs: number | null;
  /** The clock of the database, read in the same statement, epoch ms. */
  readonly nowMs: number;
  /** The caller's columns. */
  readonly row: Readonly<Record<string, unknown>>;
}
