import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { contextOf } from '../context.js';
import { jsonId } from '../core/event.js';
import type { StoreFailure } from '../core/failure.js';
import { ReapMemory } from '../core/reap-memory.js';
import { type Anchor, anchorNow, elapsedMs } from '../holding/anchor.js';
import type { ShapeWithJobs } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { factsOf, jobsOf } from './jobs-of.js';
import { type Reaped, reapJob } from './reap-job.js';
import { checkReaper, type ReaperOptions } from './reaper-options.js';
import { type Assessed, assessPage, reportOverdue, type Ticking } from './running-evidence.js';
import { sanitizeQueued } from './sanitize-impossible-queued.js';
import type { JobOutcome, TickReport, TickReportWith } from './tick-report.js';
import { runningPages } from './walk.js';

/** Takes jobs from runs that are dead, one tick at a time. */
export interface JobReaper<S extends ShapeWithJobs = ShapeWithJobs> {
  /** Looks at every running job once. Called while a tick is under way, it returns that one's report. */
  tick(): ResultAsync<TickReportWith<S['jobs']['id']>, StoreFailure>;
}

/** Running jobs in one page. */
const PAGE = 500;

/**
 * Makes a reaper: call `tick` at a steady rhythm, in one process or in several.
 *
 * 1. A job whose pid was dead at `deadTicks` ticks in a row, and for `finalizeGraceMs` since it was first seen
 *    dead, is reaped. A job without a pid is starting and never counted.
 * 2. If another process holds a lease on its task that is not proved dead, it is deferred and counted: a finalizer is
 *    at work. A lease that cannot be read defers too.
 * 3. A job that runs longer than `maxRunningMs` is reaped whatever its pid and lease say; a lease past its
 *    deadline is reclaimed as forced, and a lease store in trouble stops nothing.
 *
 * Every reap is one UPDATE, guarded by the row as it was seen: a job that finished meanwhile is left alone.
 * Pids are evidence only with `jobs.singleHost`, with `jobs.host` and `jobs.pidStart`, or with a probe of yours.
 * A probe, an `onDead` or an UPDATE that fails is reported by `job.reap-failed` and stops nothing else; where that goes on,
 * each report says so, and the event is reported at the second tick, the fourth, the eighth, and so on. Each tick also
 * sanitizes impossible queued jobs.
 *
 * Throws `RangeError` if `lease.maxHoldMs` is longer than `maxRunningMs`, and `TypeError` on an ownership made
 * by `using(trx)`. A tick fails with `store-failure` if the jobs cannot be read; what it saw then counts for
 * nothing.
 *
 * @example
 * ```ts
 * import { createJobReaper, toError } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const reaper = createJobReaper(ownership, {
 *   finalizeGraceMs: 60_000,
 *   maxRunningMs: 4 * 3_600_000,
 *   onDead: (job) => (job.forced ? 'fail' : 'requeue'),
 * });
 * const ticked = await reaper.tick();
 * if (ticked.isErr()) throw toError(ticked.error);
 * const { reaped, deferred } = ticked.value;
 * ```
 */
export function createJobReaper<S extends ShapeWithJobs>(
  ownership: TransitionOwnership<S>,
  options: ReaperOptions<NoInfer<S>>,
): JobReaper<S> {
  const context = contextOf(ownership);
  const jobs = jobsOf(context, 'createJobReaper');
  if (context.session.inTransaction) {
    throw new TypeError('createJobReaper needs the ownership itself, not one made by using(trx)');
  }
  const plan = checkReaper(context, options);
  const memory = new ReapMemory(plan.maxGapMs);
  let last: Anchor | undefined;
  let underWay: ResultAsync<TickReport, StoreFailure> | undefined;
  const begin = (): ResultAsync<TickReport, StoreFailure> => {
    const { clock } = context.ports;
    const gapMs = last === undefined ? 0 : elapsedMs(clock, last);
    last = anchorNow(clock);
    const tick = memory.begin(last.monotonicMs, gapMs);
    const ended = suited(context, ['jobs'], () => runTick({ context, jobs, plan, memory, tick })).finally(() => {
      underWay = undefined;
    });
    return neverReject(context.session, ended);
  };
  return Object.freeze({
    tick: () => {
      context.renewer.glance();
      underWay ??= begin();
      return underWay;
    },
  });
}

type Counts = Record<
  'examined' | 'starting' | 'alive' | 'suspected' | 'deferred' | 'reaped' | 'forced' | 'skipped' | 'unreadable',
  number
>;

async function runTick(ticking: Ticking): Promise<Result<TickReport, StoreFailure>> {
  const { context, jobs, memory, tick } = ticking;
  const counts: Counts = {
    examined: 0,
    starting: 0,
    alive: 0,
    suspected: 0,
    deferred: 0,
    reaped: 0,
    forced: 0,
    skipped: 0,
    unreadable: 0,
  };
  const outcomes: JobOutcome[] = [];
  for await (const page of runningPages(context, jobs, PAGE)) {
    if (page.isErr()) return err(page.error);
    for (const job of page.value.unreadable) reportOverdue(ticking, job);
    counts.unreadable += page.value.unreadable.length;
    for (const assessed of await assessPage(ticking, page.value.jobs)) {
      counts.examined += 1;
      const outcome = await settle(ticking, assessed, counts);
      if (outcome !== undefined) outcomes.push(outcome);
    }
  }
  memory.keep(tick);
  const sanitized = await sanitizeQueued(context, jobs);
  if (sanitized.isErr()) return err(sanitized.error);
  const unreadable = counts.unreadable + sanitized.value.unreadable;
  return ok(
    Object.freeze({
      ...counts,
      sanitized: sanitized.value.sanitized.length,
      unreadable,
      complete: counts.skipped === 0 && sanitized.value.complete && unreadable === 0,
      outcomes: Object.freeze(outcomes),
    }),
  );
}

/** Does what was decided on one job, and counts it. */
async function settle(ticking: Ticking, assessed: Assessed, counts: Counts): Promise<JobOutcome | undefined> {
  const { assessment, job, probeFailed } = assessed;
  const { observer } = ticking.context;
  const outcome = (what: JobOutcome['outcome'], reason: string): JobOutcome => {
    counts[what] += 1;
    return Object.freeze({ jobId: job.jobId, outcome: what, reason });
  };
  const failed = (message: string): JobOutcome => {
    if (ticking.memory.isToBeReported(ticking.tick, `${typeof job.jobId} ${job.jobId}`)) {
      observer.emit('job.reap-failed', { ...factsOf(job), message });
    }
    return outcome('skipped', message);
  };
  if (assessment.state === 'reap') {
    const forced = assessment.tier === 3;
    const reaped = await reapJob(ticking, assessed, forced);
    if (reaped.isErr()) return failed(reaped.error);
    if (reaped.value !== 'reaped') return outcome('skipped', SKIPPED[reaped.value]);
    if (forced) counts.forced += 1;
    return outcome('reaped', assessment.reason);
  }
  if (assessment.state === 'deferred') {
    if (job.taskId !== null)
      observer.emit('action.deferred', {
        taskId: jsonId(job.taskId),
        reason: assessment.reason,
        actor: 'reaper',
        holder: null,
      });
    return outcome('deferred', assessment.reason);
  }
  if (probeFailed !== undefined) return failed(probeFailed);
  counts[assessment.state] += 1;
  return undefined;
}

const SKIPPED: Readonly<Record<Exclude<Reaped, 'reaped'>, string>> = {
  left: 'onDead left it',
  'changed-meanwhile': 'it changed meanwhile, or another session has locked it',
};
