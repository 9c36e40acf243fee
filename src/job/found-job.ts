import type { SeenJob } from '../core/job.js';
import type { Shape, ShapeWithJobs } from '../shape.js';

/** A job with the run ownership that it was found with. */
export interface FoundJobWith<JobId, TaskId, RunId, StartedAt> {
  /** The job. */
  readonly jobId: JobId;
  /** Its task. */
  readonly taskId: TaskId | null;
  /** The run that it named. */
  readonly runId: RunId | null;
  /** The pid that it named. */
  readonly pid: number | null;
  /** Its `started_at`, as the column is read. */
  readonly startedAt: StartedAt;
}

/** The same, with the types of an ownership. */
export type FoundJob<S extends ShapeWithJobs = ShapeWithJobs> = FoundJobWith<
  S['jobs']['id'],
  S['taskId'],
  S['runId'],
  S['jobs']['startedAt']
>;

/** A job as it was found; none without the option `jobs`. */
export type FoundOf<S extends Shape> = S extends ShapeWithJobs
  ? FoundJobWith<S['jobs']['id'], S['taskId'], S['runId'], S['jobs']['startedAt']>
  : null;

/** A queued job that carries a run's ownership, as it was found. */
export type ImpossibleQueued<S extends ShapeWithJobs = ShapeWithJobs> = FoundJob<S>;

/** What callers see of a job. */
export function toFound({ jobId, taskId, runId, pid, startedAt }: SeenJob): FoundJob {
  return Object.freeze({ jobId, taskId, runId, pid, startedAt });
}
