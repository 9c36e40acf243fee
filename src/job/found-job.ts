import type { SeenJob } from '../core/job.js';
import type { ShapeWithJobs } from '../shape.js';

/** A job with the run ownership that it was found with. */
export interface FoundJob<S extends ShapeWithJobs = ShapeWithJobs> {
  /** The job. */
  readonly jobId: S['jobs']['id'];
  /** Its task. */
  readonly taskId: S['taskId'] | null;
  /** The run that it named. */
  readonly runId: S['runId'] | null;
  /** The pid that it named. */
  readonly pid: number | null;
  /** Its `started_at`, as the column is read. */
  readonly startedAt: S['jobs']['startedAt'];
}

/** A queued job that carries a run's ownership, as it was found. */
export type ImpossibleQueued<S extends ShapeWithJobs = ShapeWithJobs> = FoundJob<S>;

/** What callers see of a job. */
export function toFound({ jobId, taskId, runId, pid, startedAt }: SeenJob): FoundJob {
  return Object.freeze({ jobId, taskId, runId, pid, startedAt });
}
