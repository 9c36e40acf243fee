import type { ShapeWithJobs } from '../shape.js';

/** What one tick found and did; each running job is counted once, a forced one among the reaped too. */
export interface TickReportWith<JobId> {
  /** Running jobs that were looked at. */
  readonly examined: number;
  /** Claimed, and without a pid yet. */
  readonly starting: number;
  /** Alive, or no one knows otherwise. */
  readonly alive: number;
  /** Their process is gone, but not for long enough. */
  readonly suspected: number;
  /** Their process is gone, but another process is in the middle of moving their task. */
  readonly deferred: number;
  /** Taken from their dead run. */
  readonly reaped: number;
  /** Those of the reaped that ran longer than `maxRunningMs`: their process may still run. */
  readonly forced: number;
  /** Left alone: changed meanwhile, locked by someone, left by `onDead`, or something failed. */
  readonly skipped: number;
  /** Impossible queued jobs that were repaired. */
  readonly sanitized: number;
  /**
   * Running and queued jobs whose row cannot be read, an id outside its `idType` for instance: nothing was done with
   * them. Each is reported by `store.failed`, and a running one past `maxRunningMs` by `job.reap-failed` at each tick.
   */
  readonly unreadable: number;
  /** True if nothing was skipped and nothing unreadable. */
  readonly complete: boolean;
  /** Each job that was deferred, reaped or skipped, and why. */
  readonly outcomes: readonly JobOutcomeWith<JobId>[];
}

/** What a tick did with one job. */
export interface JobOutcomeWith<JobId> {
  /** The job. */
  readonly jobId: JobId;
  /** What became of it. */
  readonly outcome: 'deferred' | 'reaped' | 'skipped';
  /** Why, for people. */
  readonly reason: string;
}

/** What a tick did, with the types of an ownership. */
export type TickReport<S extends ShapeWithJobs = ShapeWithJobs> = TickReportWith<S['jobs']['id']>;

/** What it did with one job, with the types of an ownership. */
export type JobOutcome<S extends ShapeWithJobs = ShapeWithJobs> = JobOutcomeWith<S['jobs']['id']>;
