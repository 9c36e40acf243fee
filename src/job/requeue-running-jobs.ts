import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import type { JobRecord } from '../core/job.js';
import { oneOf, type Rule, type RulesOf, requestOf } from '../core/request.js';
import type { ShapeWithJobs } from '../shape.js';
import { NOTHING } from '../sql/callers-parts.js';
import { neverReject } from '../sql/never-reject.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { type FoundJob, type FoundJobWith, toFound } from './found-job.js';
import { factsOf, type Jobs, jobsOf } from './jobs-of.js';
import { leaseOf, leasesOf } from './lease-evidence.js';
import { moveJob } from './move-job.js';
import { processOf } from './process-evidence.js';
import { runningPages } from './walk.js';

/** Whose running jobs go back to the queue. */
export type RequeueOwners = 'all' | 'dead-only';

/** The rule for them. */
export const owners: Rule<RequeueOwners> = oneOf('all', 'dead-only');

/** Which running jobs to return to the queue. */
export interface RequeueRequest {
  /** Those of provably dead processes, or every one. */
  readonly owners: RequeueOwners;
}

const check = requestOf({ owners } satisfies RulesOf<RequeueRequest>);

/** What a requeueing pass did. */
export interface RequeueReportWith<Job extends { readonly jobId: unknown }> {
  /** The jobs that are queued again, as they were found. */
  readonly requeued: readonly Job[];
  /** Running jobs that were left alone: not provably dead, or a live lease is on their task. */
  readonly kept: readonly Job['jobId'][];
  /** Jobs that changed while it looked, that another session has locked, or whose UPDATE failed. */
  readonly skipped: readonly Job['jobId'][];
  /** Jobs whose row cannot be read, an id outside its `idType` for instance: nothing was done with them. */
  readonly unreadable: number;
  /** True if nothing was skipped and nothing unreadable: every such job was seen and dealt with. */
  readonly complete: boolean;
}

/** The same, with the types of an ownership. */
export type RequeueReport<S extends ShapeWithJobs = ShapeWithJobs> = RequeueReportWith<FoundJob<S>>;

/**
 * Returns running jobs to the queue at a start, their run ownership cleared in the same UPDATE.
 *
 * `'dead-only'` takes those whose process is provably gone (with `singleHost`, or `host` and `pidStart`) and
 * whose task no one else is in the middle of moving: anything uncertain is kept for the reaper. `'all'` takes
 * every running job whatever it is: only for a deployment of a single process, before it takes new work; a
 * second process would lose its running jobs. Each UPDATE is guarded by the row as it was seen, so a job that
 * finished meanwhile is left alone. Works under every mode.
 *
 * Fails with `store-failure` if the jobs cannot be read or the connection is lost; another UPDATE that fails is
 * only skipped.
 *
 * @example
 * ```ts
 * import { requeueRunningJobs, toError } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const cleaned = await requeueRunningJobs(ownership, { owners: 'dead-only' });
 * if (cleaned.isErr()) throw toError(cleaned.error);
 * const { requeued } = cleaned.value;
 * requeued.map(({ jobId, pid }) => `job ${jobId} of pid ${pid} is queued again`);
 * ```
 */
export function requeueRunningJobs<S extends ShapeWithJobs>(
  ownership: TransitionOwnership<S>,
  request: RequeueRequest,
): ResultAsync<
  RequeueReportWith<FoundJobWith<S['jobs']['id'], S['taskId'], S['runId'], S['jobs']['startedAt']>>,
  StoreFailure
> {
  const context = contextOf(ownership);
  const jobs = jobsOf(context, 'requeueRunningJobs');
  const { owners } = check(request);
  return neverReject(context.session, requeueRunning(context, jobs, { owners }));
}

/** Running jobs in one page. */
const PAGE = 500;

/** The verb without its types. */
export function requeueRunning(
  context: Context,
  jobs: Jobs,
  requeueing: { readonly owners: RequeueOwners; readonly dryRun?: boolean },
): Promise<Result<RequeueReport, StoreFailure>> {
  const work = () => requeueAll(context, jobs, requeueing);
  return requeueing.dryRun ? work() : suited(context, ['jobs'], work);
}

async function requeueAll(
  context: Context,
  jobs: Jobs,
  { owners, dryRun = false }: { readonly owners: RequeueOwners; readonly dryRun?: boolean },
): Promise<Result<RequeueReport, StoreFailure>> {
  const requeued: FoundJob[] = [];
  const kept: IdValue[] = [];
  const skipped: IdValue[] = [];
  let unreadable = 0;
  for await (const page of runningPages(context, jobs, PAGE)) {
    if (page.isErr()) return err(page.error);
    const { jobs: running } = page.value;
    unreadable += page.value.unreadable.length;
    const ownerless = new Set(owners === 'all' ? running : await ownerlessOf(context, jobs, running));
    for (const job of running) {
      if (!ownerless.has(job)) {
        kept.push(job.jobId);
        continue;
      }
      const written = dryRun ? ok(true) : await requeue(context, jobs, job);
      if (written.isErr() && written.error.kind === 'connection') return err(written.error);
      if (written.unwrapOr(false)) requeued.push(toFound(job));
      else skipped.push(job.jobId);
    }
  }
  return ok(
    Object.freeze({
      requeued: Object.freeze(requeued),
      kept: Object.freeze(kept),
      skipped: Object.freeze(skipped),
      unreadable,
      complete: skipped.length === 0 && unreadable === 0,
    }),
  );
}

/** Those whose process is dead and whose task is no one's. */
async function ownerlessOf(
  context: Context,
  { settings }: Jobs,
  jobs: readonly JobRecord[],
): Promise<readonly JobRecord[]> {
  const dead = jobs.filter((job) => processOf(context, settings, job) === 'dead');
  const leases = await leasesOf(context, dead);
  return dead.filter((job) => ['none', 'dead'].includes(leaseOf(leases, job)));
}

/** Returns a job to the queue if it is just as it was found. */
async function requeue(context: Context, jobs: Jobs, job: JobRecord): Promise<Result<boolean, StoreFailure>> {
  const { running: from, queued: to } = jobs.settings.statuses;
  const moved = await moveJob(context, jobs, { job, from, to, set: NOTHING });
  if (moved.unwrapOr(false)) context.observer.emit('job.requeued', { ...factsOf(job), by: 'recovery' });
  return moved;
}
