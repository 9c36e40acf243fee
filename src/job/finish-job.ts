import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { inspectValue } from '../core/inspect-value.js';
import { given, jobId, nullable, optional, type RulesOf, requestOf, runId, text } from '../core/request.js';
import type { ShapeWithJobs } from '../shape.js';
import { changed, execute } from '../sql/execute.js';
import type { Finish, FinishedRun } from '../sql/job-returns.js';
import { neverReject } from '../sql/never-reject.js';
import { executeOnce } from '../sql/one-row.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { checkSet, writtenByRequeue } from './callers-columns.js';
import type { ClaimedJob } from './claim-next-job.js';
import { checkClaim, type Jobs, jobsOf } from './jobs-of.js';
import { claimed } from './stamp-run-ownership.js';

/** Which run of a job has ended, and how. */
export type FinishRequest<S extends ShapeWithJobs> = FinishEnd<S> &
  (
    | {
        /** The job, as the claim returned it: it ends while it is still that claim's. */
        readonly job: ClaimedJob<S>;
        /** The run that stamped it, to be compared too. */
        readonly runId?: S['runId'] | undefined;
        readonly jobId?: never;
        readonly claim?: never;
      }
    | {
        readonly job?: never;
        /** The job, where what the claim returned is no longer at hand. */
        readonly jobId: S['jobs']['id'];
        /** The run that stamped it: it ends while it is still that run's. */
        readonly runId: S['runId'];
        /** The nonce of its claim, to be compared too. */
        readonly claim?: string | null | undefined;
      }
  );

/** How a job ends. */
export interface FinishEnd<S extends ShapeWithJobs> {
  /** The status that it ends in: any but the queued and the running one. */
  readonly status: S['jobs']['status'];
  /** Further columns to set, to values or to expressions of the row as it was. */
  readonly set?: S['jobs']['requeueSet'] | undefined;
}

/** What became of it: the job has ended, or it is no longer that run's. */
export type FinishOutcome = 'finished' | 'superseded';

const check = requestOf({
  job: optional(claimed),
  jobId: optional(jobId),
  runId: optional(runId),
  claim: optional(nullable(text)),
  status: text,
  set: given,
} satisfies RulesOf<
  FinishEnd<ShapeWithJobs> & {
    readonly job?: ClaimedJob;
    readonly jobId?: IdValue;
    readonly runId?: IdValue;
    readonly claim?: string | null;
  }
>);

/**
 * Ends a running job: one UPDATE of its status and `finishedAt`, guarded by its run and its claim.
 *
 * The run ownership stays as a record of who ran it, as it does where the reaper ends a job. A worker whose job was
 * reaped, cancelled or claimed again meanwhile is `'superseded'` and has written nothing. Back to the queue goes a job
 * by {@link resetRunOwnership}. Works under every mode, and in a transaction of yours: with what the job produced.
 *
 * Fails with `store-failure`.
 *
 * @example
 * ```ts
 * import { claimNextJob, finishJob, toError } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const claimed = await claimNextJob(ownership);
 * if (claimed.isErr()) throw toError(claimed.error);
 * const job = claimed.value;
 * if (job !== null) await finishJob(ownership, { job, status: 'done' }); // ok('finished')
 * ```
 */
export function finishJob<S extends ShapeWithJobs>(
  ownership: TransitionOwnership<S>,
  request: FinishRequest<NoInfer<S>>,
): ResultAsync<FinishOutcome, StoreFailure> {
  const context = contextOf(ownership);
  const jobs = jobsOf(context, 'finishJob');
  const { settings } = jobs;
  const checked = check(request, context.settings);
  const { status, set = {} } = checked;
  const { queued, running } = settings.statuses;
  if (status === queued || status === running) {
    throw new RangeError(
      `status must be neither ${inspectValue(queued)} nor ${inspectValue(running)}, got ${inspectValue(status)}`,
    );
  }
  const finish = { ...whichOf(checked, jobs), status, set: checkSet(set, settings, writtenByRequeue(settings)) };
  return neverReject(
    context.session,
    suited(context, ['jobs'], () => finishRun(context, jobs, finish)),
  );
}

/** The job, and what distinguishes its run from every other. */
function whichOf(
  { job, jobId, runId, claim }: ReturnType<typeof check>,
  { settings }: Jobs,
): { readonly jobId: IdValue; readonly run: FinishedRun } {
  if ((job === undefined) === (jobId === undefined)) {
    throw new TypeError(`request must have either job or jobId, got ${inspectValue(job)} and ${inspectValue(jobId)}`);
  }
  if (job !== undefined) {
    checkClaim('job.claim', settings, job.claim);
    if (claim !== undefined) throw new TypeError(`claim is that of the job, got job and claim ${inspectValue(claim)}`);
    const { started } = job;
    return { jobId: job.jobId, run: { started, claim: job.claim, ...(runId !== undefined && { runId }) } };
  }
  if (runId === undefined) throw new TypeError('request must have runId with jobId, got undefined');
  if (claim !== undefined && claim !== null) checkClaim('claim', settings, claim);
  return { jobId: jobId as IdValue, run: { runId, ...(claim !== undefined && { claim }) } };
}

async function finishRun(
  { session }: Context,
  { statements, keyed }: Jobs,
  finish: Finish,
): Promise<Result<FinishOutcome, StoreFailure>> {
  const written = await executeOnce(session, keyed(), statements.finish(finish));
  if (written.isErr()) return err(written.error);
  if (changed(session, written.value)) return ok('finished');
  if (!written.value.repeated) return ok('superseded');
  // A try whose reply was lost may have been ours.
  const read = await execute(session, statements.readFinished(finish));
  return read.map(({ rows }) => (rows.length > 0 ? 'finished' : 'superseded'));
}
