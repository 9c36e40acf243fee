import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { JobRecord } from '../core/job.js';
import { given, optional, type RulesOf, requestOf, signal } from '../core/request.js';
import { abandonable, abandoned } from '../lease-row/abandonable.js';
import type { ShapeWithJobs } from '../shape.js';
import { NOTHING } from '../sql/callers-parts.js';
import { execute, type Row } from '../sql/execute.js';
import type { Claim } from '../sql/job-claims.js';
import { neverReject } from '../sql/never-reject.js';
import { eachOnce } from '../sql/one-row.js';
import type { Session } from '../sql/session.js';
import { UnreadableRow } from '../sql/unreadable-row.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { checkOrder, checkSet, checkWhere, writtenByClaim } from './callers-columns.js';
import type { FoundJobWith } from './found-job.js';
import { factsOf, type Jobs, jobsOf } from './jobs-of.js';
import { moveJob } from './move-job.js';
import { inOneCommit } from './one-commit.js';

/** A column to order by. */
export type JobOrder<S extends ShapeWithJobs> =
  | S['jobs']['column']
  | { readonly column: S['jobs']['column']; readonly direction?: 'asc' | 'desc' };

/** Which job to claim, and what to write into it. */
export interface ClaimRequest<S extends ShapeWithJobs> {
  /** Only jobs like this: values by column (`null` is a value), or an expression. Default: any queued job. */
  readonly where?: S['jobs']['where'] | undefined;
  /** Which comes first; where databases differ over nulls, so does this. Default: the least id. */
  readonly orderBy?: JobOrder<S> | readonly JobOrder<S>[] | undefined;
  /** Further columns to set, to values or to expressions of the row as it was: `attempts`, for instance. */
  readonly set?: S['jobs']['claimSet'] | undefined;
  /**
   * Ends the wait when it fires: `store-failure` at once, `not-applied` if no write was sent, else `unknown`. A job that
   * was claimed all the same goes back to queued; what `set` wrote into it stays.
   */
  readonly signal?: AbortSignal | undefined;
}

const check = requestOf({ where: given, orderBy: given, set: given, signal: optional(signal) } satisfies RulesOf<
  ClaimRequest<ShapeWithJobs>
>);

/** A job that this call moved from queued to running; no one's run yet. */
export interface ClaimedJobWith<JobId, TaskId, StartedAt, Row> extends FoundJobWith<JobId, TaskId, null, StartedAt> {
  /** No run has it yet: {@link stampRunOwnership} writes one. */
  readonly runId: null;
  /** No process runs it yet. */
  readonly pid: null;
  /** Its `started_at` just as the claim wrote it; what a stamp compares. */
  readonly started: string;
  /** The same, as database time in epoch ms. */
  readonly startedAtMs: number;
  /** The nonce that the claim wrote, what a stamp compares too; `null` without `jobs.claim`. */
  readonly claim: string | null;
  /** All its columns, as the claim left them. */
  readonly row: Row;
}

/** The same, with the types of an ownership. */
export type ClaimedJob<S extends ShapeWithJobs = ShapeWithJobs> = ClaimedJobWith<
  S['jobs']['id'],
  S['taskId'],
  S['jobs']['startedAt'],
  S['jobs']['row']
>;

/**
 * Takes the next queued job: from queued to running, in one statement where the database can.
 *
 * At most one job is claimed, and one job by at most one of any number of callers; none waits for another's
 * lock. The same write clears whatever a former run left and sets `started_at` to the database's now: between
 * the claim and the stamp of a pid, a crash leaves nothing stale, and the reaper's `maxRunningMs` counts. Jobs
 * whose `availableAt` is still to come are passed over, and so are those whose id (or task's id) is not of the type
 * that was said: no one could name them afterwards, and the reports of the other verbs count them as `unreadable`. Leases are not read: a lease store in trouble does not
 * stop the queue. `null` means that there was no such job, never that the database was in trouble.
 *
 * Fails with `store-failure`. If its outcome is `unknown`, one job may be running with no one to run it: the
 * reaper returns it.
 *
 * @example
 * ```ts
 * import { claimNextJob, stampRunOwnership, toError } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const claimed = await claimNextJob(ownership, { orderBy: 'id' });
 * if (claimed.isErr()) throw toError(claimed.error);
 * const job = claimed.value;
 * if (job !== null) await stampRunOwnership(ownership, { job, runId: 7, pid: process.pid });
 * ```
 */
export function claimNextJob<S extends ShapeWithJobs>(
  ownership: TransitionOwnership<S>,
  request: ClaimRequest<NoInfer<S>> = {},
): ResultAsync<
  ClaimedJobWith<S['jobs']['id'], S['taskId'], S['jobs']['startedAt'], S['jobs']['row']> | null,
  StoreFailure
> {
  const context = contextOf(ownership);
  const jobs = jobsOf(context, 'claimNextJob');
  const { where = {}, orderBy = [], set = {}, signal } = check(request);
  const claim = {
    where: checkWhere(where, jobs.settings),
    orderBy: checkOrder(orderBy),
    set: checkSet(set, jobs.settings, writtenByClaim(jobs.settings)),
    nonce: jobs.settings.claim === undefined ? '' : context.ports.randomness.claim(),
  };
  const late = (claimed: Result<ClaimedJob | null, StoreFailure>): unknown =>
    claimed.isOk() && claimed.value !== null ? putBack(context, jobs, claimed.value) : undefined;
  const claiming = abandonable(context, { signal, told: abandoned(context, signal), late }, (patient) =>
    suited(patient, ['jobs'], () => claimNext(patient, jobs, claim)),
  );
  return neverReject(context.session, claiming);
}

/** A job that was claimed when nobody waited for it any more goes back, if it is just as the claim left it. */
async function putBack(context: Context, jobs: Jobs, job: ClaimedJob): Promise<void> {
  const { queued, running } = jobs.settings.statuses;
  const moved = await moveJob(context, jobs, { job, from: running, to: queued, set: NOTHING });
  if (moved.isOk() && moved.value) context.observer.emit('job.requeued', { ...factsOf(job), by: 'claim' });
}

async function claimNext(context: Context, jobs: Jobs, claim: Claim): Promise<Result<ClaimedJob | null, StoreFailure>> {
  const { session } = context;
  const claiming = (over: Session): Promise<Result<readonly Row[], StoreFailure>> =>
    session.dialect.returning
      ? claimAtOnce(over, jobs, claim)
      : inOneCommit(over, (inside) => claimLocked(inside, jobs, claim));
  const claimed = await eachOnce(session, jobs.keyed(), claiming, (rows) => rows.length > 1);
  if (claimed.isErr()) return err(claimed.error);
  const [row] = claimed.value;
  if (row === undefined) return ok(null);
  const job = toClaimed(await jobs.shown(jobs.read(row)));
  context.observer.emit('job.claimed', factsOf(job));
  return ok(job);
}

/** One statement; never sent again after a lost reply, for it would claim a second job. */
async function claimAtOnce(
  session: Session,
  { statements }: Jobs,
  claim: Claim,
): Promise<Result<readonly Row[], StoreFailure>> {
  const claimed = await execute(session, statements.claim(claim), 'once');
  return claimed.map(({ rows }) => rows);
}

/** Locks the next job that no one has locked, claims it, and reads it, in one transaction. */
async function claimLocked(
  session: Session,
  { statements, readId, settings }: Jobs,
  claim: Claim,
): Promise<Result<readonly Row[], StoreFailure>> {
  const picked = await execute(session, statements.pick(claim), 'once');
  if (picked.isErr()) return err(picked.error);
  const [first] = picked.value.rows;
  if (first === undefined) return ok([]);
  const jobId = readId(first);
  const taken = await execute(session, statements.take(claim, jobId), 'once');
  if (taken.isErr()) return err(taken.error);
  const read = await execute(session, statements.read({ jobId }), 'once');
  return read.map(({ rows }) => {
    // A server that is not strict cuts what is too long for its column: it would distinguish no claim from another.
    for (const { 'job:claim': written } of rows) {
      if (settings.claim !== undefined && written !== claim.nonce) {
        throw new UnreadableRow('claim', written, 'the whole nonce of the claim');
      }
    }
    return rows;
  });
}

function toClaimed({ jobId, taskId, started, startedAt, startedAtMs, claim, row }: JobRecord): ClaimedJob {
  if (started === null || startedAtMs === null) {
    throw new UnreadableRow('startedAt', startedAt, 'the instant that the claim wrote');
  }
  return Object.freeze({ jobId, taskId, runId: null, pid: null, started, startedAt, startedAtMs, claim, row });
}
