import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import { limit, optional, type RulesOf, requestOf } from '../core/request.js';
import type { ShapeWithJobs } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { type FoundJob, type FoundJobWith, toFound } from './found-job.js';
import { type Jobs, jobsOf } from './jobs-of.js';
import { impossiblePages } from './walk.js';

/** How many to find. */
export interface FindImpossibleOptions {
  /** The most jobs to return, from 1 to 100,000. Default 1,000. */
  readonly limit?: number | undefined;
}

const check = requestOf({ limit: optional(limit(), 1_000) } satisfies RulesOf<FindImpossibleOptions>, 'options');

/** Queued jobs that one statement looks at. */
const PAGE = 1_000;

/**
 * Finds queued jobs that carry a run id, a pid, a start or a claim, least ids first; changes nothing. No event is
 * emitted but `store.failed` for each queued job whose row cannot be read, which is in no list:
 * {@link sanitizeImpossibleQueued} in a dry run counts them.
 *
 * Costs in proportion to the queued jobs, and no statement looks at more than a thousand of them. Works under
 * every mode. Fails with `store-failure`.
 */
export function findImpossibleQueued<S extends ShapeWithJobs>(
  ownership: TransitionOwnership<S>,
  options: FindImpossibleOptions = {},
): ResultAsync<
  readonly FoundJobWith<S['jobs']['id'], S['taskId'], S['runId'], S['jobs']['startedAt']>[],
  StoreFailure
> {
  const context = contextOf(ownership);
  const jobs = jobsOf(context, 'findImpossibleQueued');
  const { limit } = check(options);
  return neverReject(context.session, findImpossible(context, jobs, limit));
}

/** The verb without its types. */
export async function findImpossible(
  context: Context,
  jobs: Jobs,
  limit: number,
): Promise<Result<readonly FoundJob[], StoreFailure>> {
  return (await lookForImpossible(context, jobs, limit)).map(({ found }) => found);
}

/** The same, and how many queued jobs could not be read. */
export async function lookForImpossible(
  context: Context,
  jobs: Jobs,
  limit: number,
): Promise<Result<{ readonly found: readonly FoundJob[]; readonly unreadable: number }, StoreFailure>> {
  const found: FoundJob[] = [];
  let unreadable = 0;
  for await (const page of impossiblePages(context, jobs, PAGE)) {
    if (page.isErr()) return err(page.error);
    found.push(...page.value.jobs.map(toFound));
    unreadable += page.value.unreadable.length;
    if (found.length >= limit) break;
  }
  return ok({ found: Object.freeze(found.slice(0, limit)), unreadable });
}
