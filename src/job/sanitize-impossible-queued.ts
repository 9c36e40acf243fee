import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { type EventFacts, jsonInstant } from '../core/event.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import type { SeenJob } from '../core/job.js';
import { MAX_LIMIT } from '../core/limit.js';
import { boolean, limit, optional, type RulesOf, requestOf } from '../core/request.js';
import type { ShapeWithJobs } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { lookForImpossible } from './find-impossible-queued.js';
import { type FoundJob, type FoundJobWith, toFound } from './found-job.js';
import { factsOf, type Jobs, jobsOf } from './jobs-of.js';
import { repairPage } from './repair-page.js';
import { impossiblePages } from './walk.js';

/** How to sanitize. */
export interface SanitizeOptions {
  /** True to find and report, and to change nothing. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Queued jobs that one statement looks at, from 1 to 10,000. Default 500. */
  readonly batchSize?: number | undefined;
}

/** What a sanitizing pass found and did. */
export interface SanitizeReportWith<Job extends { readonly jobId: unknown }> {
  /** How many impossible jobs there were. */
  readonly found: number;
  /** Those that this pass repaired, as they were found; none in a dry run. */
  readonly sanitized: readonly Job[];
  /** Those that changed while it looked, that another session has locked, or whose repair failed: the next pass meets them again. */
  readonly skipped: readonly Job['jobId'][];
  /** Jobs whose row cannot be read, an id outside its `idType` for instance: nothing was done with them. */
  readonly unreadable: number;
  /** True if nothing was skipped and nothing unreadable: every such job was seen and dealt with. */
  readonly complete: boolean;
}

/** The same, with the types of an ownership. */
export type SanitizeReport<S extends ShapeWithJobs = ShapeWithJobs> = SanitizeReportWith<FoundJob<S>>;

const MAX_IN_A_BATCH = 10_000;

const check = requestOf(
  {
    dryRun: optional(boolean, false),
    batchSize: optional(limit(MAX_IN_A_BATCH), 500),
  } satisfies RulesOf<SanitizeOptions>,
  'options',
);

/**
 * Repairs queued jobs that carry a run id, a pid, a start or a claim: no run has a job that is queued.
 *
 * Each is repaired by a compare-and-swap on the values it was found with: a job that was claimed meanwhile is
 * untouched. Memory and each statement are bounded by `batchSize`; the pass may be killed anywhere and begun
 * again, in any number of processes at once, and a second one finds nothing. Every find is reported by a
 * `queue.impossible-found` warning, every repair by `queue.sanitized`. It restores an invariant, so it works
 * under every mode.
 *
 * Fails with `store-failure` if the jobs cannot be read or the connection is lost; another repair that fails is
 * only skipped.
 *
 * @example
 * ```ts
 * import { sanitizeImpossibleQueued, toError } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const looked = await sanitizeImpossibleQueued(ownership, { dryRun: true });
 * if (looked.isErr()) throw toError(looked.error);
 * const { found } = looked.value;
 * found; // 0 in a sound queue
 * ```
 */
export function sanitizeImpossibleQueued<S extends ShapeWithJobs>(
  ownership: TransitionOwnership<S>,
  options: SanitizeOptions = {},
): ResultAsync<
  SanitizeReportWith<FoundJobWith<S['jobs']['id'], S['taskId'], S['runId'], S['jobs']['startedAt']>>,
  StoreFailure
> {
  const context = contextOf(ownership);
  const jobs = jobsOf(context, 'sanitizeImpossibleQueued');
  const sanitized = sanitizeQueued(context, jobs, check(options));
  return neverReject(context.session, sanitized);
}

/** The verb without its types. */
export function sanitizeQueued(
  context: Context,
  jobs: Jobs,
  options: SanitizeOptions = {},
): Promise<Result<SanitizeReport, StoreFailure>> {
  const work = () => sanitizeAll(context, jobs, options);
  return options.dryRun ? work() : suited(context, ['jobs'], work);
}

async function sanitizeAll(
  context: Context,
  jobs: Jobs,
  { dryRun = false, batchSize = 500 }: SanitizeOptions,
): Promise<Result<SanitizeReport, StoreFailure>> {
  let found = 0;
  let unreadable = 0;
  const sanitized: FoundJob[] = [];
  const skipped: IdValue[] = [];
  for await (const page of impossiblePages(context, jobs, batchSize)) {
    if (page.isErr()) return err(page.error);
    const { jobs: impossible } = page.value;
    found += impossible.length;
    unreadable += page.value.unreadable.length;
    for (const job of impossible) context.observer.emit('queue.impossible-found', eventFacts(job));
    if (dryRun) continue;
    const repaired = await repairPage(context, jobs, impossible);
    if (repaired.isErr()) return err(repaired.error);
    for (const job of impossible) {
      if (repaired.value.has(job.jobId)) {
        sanitized.push(toFound(job));
        context.observer.emit('queue.sanitized', eventFacts(job));
      } else skipped.push(job.jobId);
    }
  }
  return ok(sanitizeReport({ found, sanitized, skipped, unreadable }));
}

/** What a pass found and did, as a frozen value. */
export function sanitizeReport(done: Omit<SanitizeReport, 'complete'>): SanitizeReport {
  const { found, sanitized, skipped, unreadable } = done;
  const complete = skipped.length === 0 && unreadable === 0;
  return Object.freeze({
    found,
    sanitized: Object.freeze(sanitized),
    skipped: Object.freeze(skipped),
    unreadable,
    complete,
  });
}

function eventFacts(job: SeenJob): EventFacts['queue.sanitized'] {
  return { ...factsOf(job), startedAt: jsonInstant(job.startedAt) };
}

/** The impossible jobs as a pass would report them that repaired each. */
export async function wouldSanitize(context: Context, jobs: Jobs): Promise<Result<SanitizeReport, StoreFailure>> {
  const looked = await lookForImpossible(context, jobs, MAX_LIMIT);
  return looked.map(({ found, unreadable }) =>
    sanitizeReport({ found: found.length, sanitized: found, skipped: [], unreadable }),
  );
}
