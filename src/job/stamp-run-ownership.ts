import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { checkObject } from '../core/check.js';
import type { StoreFailure } from '../core/failure.js';
import { inspectValue } from '../core/inspect-value.js';
import { jobId, nullable, type Rule, type RulesOf, requestOf, runId, text } from '../core/request.js';
import type { ShapeWithJobs } from '../shape.js';
import { changed, execute } from '../sql/execute.js';
import type { Stamp } from '../sql/job-claims.js';
import { neverReject } from '../sql/never-reject.js';
import { executeOnce } from '../sql/one-row.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import type { ClaimedJob } from './claim-next-job.js';
import { checkClaim, type Jobs, jobsOf, pid } from './jobs-of.js';

/** Which run has a claimed job. */
export interface StampRequest<S extends ShapeWithJobs> {
  /** The job, as the claim returned it. */
  readonly job: ClaimedJob<S>;
  /** The run that has it now. */
  readonly runId: S['runId'];
  /** The process of that run, on this host. */
  readonly pid: number;
}

/** A job just as the claim returned it. What is not compared may be anything: an application may keep more with it. */
export const claimed: Rule<Pick<Stamp, 'jobId' | 'started' | 'claim'>> = (name) => {
  const checkNonce = nullable(text)(`${name}.claim`);
  const checkJobId = jobId(`${name}.jobId`);
  return (value, ids) => {
    checkObject(name, value);
    const { jobId, started, claim = null } = value as Partial<ClaimedJob>;
    if (typeof started !== 'string') {
      throw new TypeError(`${name} must be a job as claimNextJob returned it, got started ${inspectValue(started)}`);
    }
    return { jobId: checkJobId(jobId, ids), started, claim: checkNonce(claim) };
  };
};

const check = requestOf({ job: claimed, runId, pid } satisfies RulesOf<StampRequest<ShapeWithJobs>>);

/** What a stamp found: the job as it was claimed, or a job that is no longer that claim's. */
export type StampOutcome = 'stamped' | 'superseded';

/**
 * Writes the run and the pid of a claimed job: one UPDATE, guarded by the claim's own `started_at` and its nonce.
 *
 * A worker whose job was reaped, cancelled, or claimed again meanwhile is `'superseded'` and has written
 * nothing: it must not run the job. With `jobs.claim` two claims of one job always differ; without it only by
 * their `started_at`, so two claims within one unit of that column (a second, where it keeps no fraction) are not
 * told apart. Where `jobs.host` and `jobs.pidStart` are mapped, this host and the start mark of the pid are
 * written too.
 *
 * Fails with `store-failure`; nothing was written unless its outcome is `unknown`. The job is then still running
 * without a run: return it by {@link resetRunOwnership}, or the reaper does after `maxRunningMs`.
 */
export function stampRunOwnership<S extends ShapeWithJobs>(
  ownership: TransitionOwnership<S>,
  request: StampRequest<NoInfer<S>>,
): ResultAsync<StampOutcome, StoreFailure> {
  const context = contextOf(ownership);
  const jobs = jobsOf(context, 'stampRunOwnership');
  const { job, runId, pid } = check(request, context.settings);
  checkClaim('job.claim', jobs.settings, job.claim);
  const { identity, processes } = context.ports;
  const { start: pidStart } = processes.sight(pid);
  const stamped = { ...job, runId, pid, host: identity.host, pidStart };
  return neverReject(
    context.session,
    suited(context, ['jobs'], () => stamp(context, jobs, stamped)),
  );
}

async function stamp(
  context: Context,
  { statements, keyed }: Jobs,
  stamped: Stamp,
): Promise<Result<StampOutcome, StoreFailure>> {
  const { session } = context;
  const written = await executeOnce(session, keyed(), statements.stamp(stamped));
  if (written.isErr()) return err(written.error);
  if (changed(session, written.value)) return ok('stamped');
  if (!written.value.repeated) return ok('superseded');
  // A try whose reply was lost may have been ours.
  const read = await execute(session, statements.readStamp(stamped));
  return read.map(({ rows }) => (rows.length > 0 ? 'stamped' : 'superseded'));
}
