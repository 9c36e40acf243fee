import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import { boolean, given, optional, type RulesOf, requestOf } from '../core/request.js';
import { type Probes, probesRule } from '../effect/assess-transition.js';
import type { AnyProbe } from '../effect/effect-request.js';
import type { FoundOf } from '../job/found-job.js';
import { jobsOf } from '../job/jobs-of.js';
import {
  owners,
  type RequeueOwners,
  type RequeueReport,
  type RequeueReportWith,
  requeueRunning,
} from '../job/requeue-running-jobs.js';
import {
  type SanitizeReport,
  type SanitizeReportWith,
  sanitizeQueued,
  wouldSanitize,
} from '../job/sanitize-impossible-queued.js';
import type { Reclaimed } from '../lease/reclaim-stale-leases.js';
import type { Shape } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { NO_DEAD_LEASES, partDeadLeases } from './broken-off.js';
import {
  type ReadTransitions,
  type UnfinishedTransitionsWith,
  unfinishedTransitions,
} from './unfinished-transitions.js';

/** How to recover. */
export interface RecoveryRequest<S extends Shape> {
  /**
   * Whose running jobs go back to the queue: `'dead-only'` those of provably dead processes; `'all'` every one,
   * for a deployment of a single process only: a second one would lose the jobs that it is running. Must be
   * given with the option `jobs`, and says nothing without it.
   */
  readonly jobs: RequeueOwners;
  /** Asked about effects that were started and are not known to be applied. Default: none, and they are held. */
  readonly probes?: Probes<S> | undefined;
  /** True to report what would be done, and to change nothing and emit no event. Default false. */
  readonly dryRun?: boolean | undefined;
}

const checkOwners = owners('jobs');

const check = requestOf({
  jobs: given,
  probes: optional(probesRule),
  dryRun: optional(boolean, false),
} satisfies RulesOf<RecoveryRequest<Shape>>);

/** What a recovery did, or in a dry run would do, and what is left to do. */
export interface RecoveryReportWith<TaskId, Job extends { readonly jobId: unknown } | null>
  extends UnfinishedTransitionsWith<TaskId> {
  /** The jobs that went back to the queue, and those that did not; `null` without the option `jobs`. */
  readonly jobs: Job extends { readonly jobId: unknown } ? RequeueReportWith<Job> : null;
  /** The impossible queued jobs that were repaired; `null` without the option `jobs`. */
  readonly sanitized: Job extends { readonly jobId: unknown } ? SanitizeReportWith<Job> : null;
  /** The leases of dead owners that were deleted. */
  readonly reclaimed: readonly Reclaimed[];
  /** Leases of dead owners that could not be deleted. */
  readonly skipped: readonly Holder[];
  /**
   * Rows of leases, effects and jobs that cannot be read, an id outside its type for instance: each is reported by
   * `store.failed`, left alone, and stops no other.
   */
  readonly unreadable: number;
  /** True if nothing was skipped or unreadable: every row that could be recovered was. */
  readonly complete: boolean;
}

/** The same, with the types of an ownership. */
export type RecoveryReport<S extends Shape = Shape> = RecoveryReportWith<S['taskId'], FoundOf<S>>;

/**
 * Recovers what dead processes left behind. Call it at a start, and at any time after, from a timer of yours.
 *
 * In this order: running jobs of dead processes go back to the queue; impossible queued jobs are repaired; the
 * leases of dead owners whose task has moved on are deleted; the transitions that were broken off are listed, each
 * with what to do about it: `redrive` (run its handler again), `converge` (the same: what was applied is not applied
 * again), or `hold` (a person looks, and tells by `resolveEffect`). Steps without their option do nothing.
 *
 * It forgets nothing: the lease of a dead owner stays while its task is in the stage of the lease, and its transition
 * is listed at each call, until the acquisition of whoever redrives it replaces the lease, the stage has moved, or an
 * operator says `abandonTransition`.
 *
 * A row that fails does not stop the others: it is reported as skipped. Each write is a compare-and-swap on what
 * was seen, so recovery may be killed anywhere and run again, and in several processes at once, except with
 * `jobs: 'all'`. A second run changes nothing more. Probes are asked one after the other.
 *
 * Fails with `store-failure` if a step could not be done as a whole; the others were still tried. Take no new
 * work then. Throws `TypeError` on an ownership made by `using(trx)`.
 *
 * @example
 * ```ts
 * import { recover } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const recovered = await recover(ownership, { jobs: 'dead-only' });
 * if (recovered.isErr()) throw new Error(recovered.error.message);
 * const { transitions } = recovered.value;
 * const held = transitions.filter(({ decision }) => decision === 'hold'); // for a person; the others run again
 * ```
 */
export function recover<S extends Shape>(
  ownership: TransitionOwnership<S>,
  request: RecoveryRequest<NoInfer<S>>,
): ResultAsync<RecoveryReportWith<S['taskId'], FoundOf<S>>, StoreFailure> {
  const context = contextOf(ownership);
  if (context.session.inTransaction) {
    throw new TypeError('recover needs the ownership itself, not one made by using(trx)');
  }
  const { jobs, ...rest } = check(request);
  const asked = context.jobs !== undefined || jobs !== undefined ? checkOwners(jobs) : undefined;
  return neverReject(context.session, recoverAll(context, { owners: asked, ...rest })) as unknown as ResultAsync<
    RecoveryReport<S>,
    StoreFailure
  >;
}

const NOTHING_UNFINISHED: ReadTransitions = Object.freeze({
  transitions: Object.freeze([]),
  underWay: Object.freeze([]),
  unreadable: 0,
});

/** A report before it is known whether the ownership has jobs. */
type Recovered = Omit<RecoveryReport, 'jobs' | 'sanitized'> & {
  readonly jobs: RequeueReport | null;
  readonly sanitized: SanitizeReport | null;
};

/** A step that is not for this ownership. */
const NONE: Result<null, StoreFailure> = ok(null);

interface Recovering {
  readonly owners: RequeueOwners | undefined;
  readonly probes: Readonly<Record<string, AnyProbe>> | undefined;
  readonly dryRun: boolean;
}

async function recoverAll(
  context: Context,
  { owners, probes, dryRun }: Recovering,
): Promise<Result<Recovered, StoreFailure>> {
  const { effects } = context;
  const begunMs = context.ports.clock.monotonicMs();
  const jobs = context.jobs === undefined ? undefined : jobsOf(context, 'recover');
  const requeued =
    jobs === undefined || owners === undefined ? NONE : await requeueRunning(context, jobs, { owners, dryRun });
  const sanitized = jobs === undefined ? NONE : await (dryRun ? wouldSanitize : sanitizeQueued)(context, jobs);
  const dead = await partDeadLeases(context, dryRun);
  const { brokenOff, ...doneReclaiming } = dead.unwrapOr(NO_DEAD_LEASES);
  const unfinished = await unfinishedTransitions(context, { effects, probes, brokenOff });

  const failures = [requeued, sanitized, dead, unfinished].flatMap((step) => (step.isErr() ? [step.error] : []));
  const [doneJobs, doneSanitizing] = [requeued.unwrapOr(null), sanitized.unwrapOr(null)];
  const { transitions, underWay, unreadable: unreadableEffects } = unfinished.unwrapOr(NOTHING_UNFINISHED);
  const skipped =
    (doneJobs?.skipped.length ?? 0) + (doneSanitizing?.skipped.length ?? 0) + doneReclaiming.skipped.length;
  const unreadableJobs = (doneJobs?.unreadable ?? 0) + (doneSanitizing?.unreadable ?? 0);
  const unreadable = doneReclaiming.unreadable + unreadableEffects + unreadableJobs;
  if (!dryRun) {
    context.observer.emit('recovery.finished', {
      requeued: doneJobs?.requeued.length ?? 0,
      sanitized: doneSanitizing?.sanitized.length ?? 0,
      reclaimed: doneReclaiming.reclaimed.length,
      held: transitions.filter(({ decision }) => decision === 'hold').length,
      failed: skipped + unreadable + failures.length,
      tookMs: context.ports.clock.monotonicMs() - begunMs,
    });
  }
  const [failure] = failures;
  if (failure !== undefined) return err(failure);
  return ok(
    Object.freeze({
      jobs: doneJobs,
      sanitized: doneSanitizing,
      reclaimed: Object.freeze(doneReclaiming.reclaimed),
      skipped: Object.freeze(doneReclaiming.skipped),
      transitions,
      underWay,
      unreadable,
      complete: skipped + unreadable === 0,
    }),
  );
}
