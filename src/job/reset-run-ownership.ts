import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { inspectValue } from '../core/inspect-value.js';
import type { SeenJob } from '../core/job.js';
import {
  type Check,
  given,
  jobId,
  list,
  nullable,
  object,
  optional,
  type RulesOf,
  requestOf,
  runId,
  text,
} from '../core/request.js';
import type { ShapeWithJobs } from '../shape.js';
import { execute } from '../sql/execute.js';
import type { Reset } from '../sql/job-returns.js';
import { neverReject } from '../sql/never-reject.js';
import { eachOnce, metMore } from '../sql/one-row.js';
import type { Session } from '../sql/session.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { checkSet, writtenByRequeue } from './callers-columns.js';
import { checkClaim, factsOf, type Jobs, jobsOf, pid } from './jobs-of.js';
import { inOneCommit } from './one-commit.js';

/** Which jobs go back to the queue. */
export type ResetRequest<S extends ShapeWithJobs> = ResetGuard<S> &
  (
    | {
        /** The job. */
        readonly jobId: S['jobs']['id'];
        readonly jobIds?: never;
      }
    | {
        readonly jobId?: never;
        /** The jobs, at most 500, each named once. */
        readonly jobIds: readonly S['jobs']['id'][];
      }
  );

/** What a job must be for a reset to touch it, and what the reset writes besides. */
export interface ResetGuard<S extends ShapeWithJobs> {
  /** The status that it must have. Default: running. */
  readonly from?: S['jobs']['status'] | undefined;
  /**
   * The run that it must have, as the caller saw it (`null` is a value), or `'any'`. With `claim` only while the job
   * still carries that claim: two claims that no run has stamped yet differ by nothing else.
   */
  readonly expected:
    | { readonly runId: S['runId'] | null; readonly pid: number | null; readonly claim?: string | null | undefined }
    | 'any';
  /** Further columns to set, to values or to expressions of the row as it was. */
  readonly set?: S['jobs']['requeueSet'] | undefined;
}

/** What a reset did. */
export interface ResetReportWith<JobId> {
  /** The jobs that are queued again, in the order of the request. */
  readonly reset: readonly JobId[];
  /** The jobs that were not as expected, or not there; untouched. */
  readonly skipped: readonly JobId[];
}

/** The same, with the types of an ownership. */
export type ResetReport<S extends ShapeWithJobs = ShapeWithJobs> = ResetReportWith<S['jobs']['id']>;

const MAX_JOBS = 500;

const run = object({ runId: nullable(runId), pid: nullable(pid), claim: optional(nullable(text)) });

const check = requestOf({
  jobId: optional(jobId),
  jobIds: optional(list(jobId)),
  from: optional(text),
  expected: (name): Check<Reset['expected']> => {
    const checkRun = run(name);
    return (value, ids) => (value === 'any' ? value : checkRun(value, ids));
  },
  set: given,
} satisfies RulesOf<ResetGuard<ShapeWithJobs> & { readonly jobId?: IdValue; readonly jobIds?: readonly IdValue[] }>);
const NONE: ResetReport = Object.freeze({ reset: Object.freeze([]), skipped: Object.freeze([]) });

/**
 * Returns jobs to the queue: one UPDATE that changes the status and clears the whole run ownership.
 *
 * A job is touched only while it has the expected status and, unless `'any'`, the expected run. Several jobs
 * are locked in the order of their ids. Works under every mode, and in a transaction of yours.
 *
 * Fails with `store-failure`.
 *
 * @example
 * ```ts
 * import { claimNextJob, resetRunOwnership } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const claimed = await claimNextJob(ownership);
 * if (claimed.isOk() && claimed.value !== null) {
 *   // The spawn failed: nothing of the run may stay.
 *   const { jobId, runId, pid, claim } = claimed.value;
 *   await resetRunOwnership(ownership, { jobId, expected: { runId, pid, claim } });
 * }
 * ```
 */
export function resetRunOwnership<S extends ShapeWithJobs>(
  ownership: TransitionOwnership<S>,
  request: ResetRequest<NoInfer<S>>,
): ResultAsync<ResetReportWith<S['jobs']['id']>, StoreFailure> {
  const context = contextOf(ownership);
  const jobs = jobsOf(context, 'resetRunOwnership');
  const checked = check(request, context.settings);
  const { from = jobs.settings.statuses.running, set = {} } = checked;
  const expected = withClaim(checked.expected, jobs);
  const jobIds = jobIdsOf(checked);
  const reset = { jobIds, from, expected, set: checkSet(set, jobs.settings, writtenByRequeue(jobs.settings)) };
  return neverReject(
    context.session,
    suited(context, ['jobs'], () => resetAll(context, jobs, reset)),
  );
}

function jobIdsOf({ jobId, jobIds }: ReturnType<typeof check>): readonly IdValue[] {
  if ((jobId === undefined) === (jobIds === undefined)) {
    throw new TypeError(
      `request must have either jobId or jobIds, got ${inspectValue(jobId)} and ${inspectValue(jobIds)}`,
    );
  }
  if (jobIds === undefined) return [jobId as IdValue];
  if (jobIds.length > MAX_JOBS) throw new RangeError(`jobIds must have at most ${MAX_JOBS} ids, got ${jobIds.length}`);
  const ids = new Set<IdValue>();
  for (const id of jobIds) {
    if (ids.has(id)) throw new RangeError(`jobIds must name each job once, got ${inspectValue(id)} twice`);
    ids.add(id);
  }
  return jobIds;
}

/** The run that is expected, with its claim where claims are mapped and one is given. */
function withClaim(expected: Reset['expected'], { settings }: Jobs): Reset['expected'] {
  if (expected === 'any') return expected;
  const { claim, ...run } = expected;
  if (claim !== null && claim !== undefined) checkClaim('expected.claim', settings, claim);
  return claim === undefined || settings.claim === undefined ? run : { ...run, claim };
}

async function resetAll(context: Context, jobs: Jobs, reset: Reset): Promise<Result<ResetReport, StoreFailure>> {
  if (reset.jobIds.length === 0) return ok(NONE);
  const { session } = context;
  const resetting = (over: Session): Promise<Result<readonly SeenJob[], StoreFailure>> =>
    session.dialect.returning
      ? resetAtOnce(over, jobs, reset)
      : inOneCommit(over, (inside) => resetLocked(inside, jobs, reset));
  const written = await eachOnce(session, jobs.keyed(), resetting, metTwice);
  if (written.isErr()) return err(written.error);
  const { jobIds, expected } = reset;
  const done = new Map(written.value.map((job) => [job.jobId, job]));
  for (const job of done.values()) {
    const facts = factsOf({ ...job, ...(expected === 'any' ? {} : expected) });
    context.observer.emit('job.requeued', { ...facts, by: 'reset' });
  }
  return ok(
    Object.freeze({
      reset: Object.freeze(jobIds.filter((jobId) => done.has(jobId))),
      skipped: Object.freeze(jobIds.filter((jobId) => !done.has(jobId))),
    }),
  );
}

const metTwice = (jobs: readonly SeenJob[]): boolean => new Set(jobs.map(({ jobId }) => jobId)).size < jobs.length;

/** Sent once: after a lost reply it is not known what the first try returned to the queue. */
async function resetAtOnce(
  session: Session,
  { statements, readSeen }: Jobs,
  reset: Reset,
): Promise<Result<readonly SeenJob[], StoreFailure>> {
  const written = await execute(session, statements.reset(reset), 'once');
  return written.map(({ rows }) => rows.map(readSeen));
}

async function resetLocked(
  session: Session,
  { statements, readSeen, keyed }: Jobs,
  reset: Reset,
): Promise<Result<readonly SeenJob[], StoreFailure>> {
  const locked = await execute(session, statements.lock(reset), 'once');
  if (locked.isErr()) return err(locked.error);
  const jobs = locked.value.rows.map(readSeen);
  if (jobs.length === 0) return ok(jobs);
  const jobIds = jobs.map(({ jobId }) => jobId);
  const write = (inside: Session) => execute(inside, statements.resetLocked({ ...reset, jobIds }), 'once');
  const written = await eachOnce(session, keyed(), write, metMore(jobIds.length));
  return written.map(() => jobs);
}
