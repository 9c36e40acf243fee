import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { IdValue } from '../core/id.js';
import { checkLimit } from '../core/limit.js';
import { limit, list, optional, type RulesOf, requestOf, taskId } from '../core/request.js';
import type { Judgement } from '../core/verdict.js';
import { readAllJudged, readJudgedOf } from '../evidence/read-holder.js';
import { reclaim } from '../evidence/reclaim.js';
import type { Shape } from '../shape.js';
import { answered } from '../sql/answered.js';
import type { TransitionOwnership } from '../transition-ownership.js';

/** A dead owner's lease that this call deleted. */
export interface Reclaimed extends Holder, Judgement {}

/** What a pass over the leases did. */
export interface ReclaimReport {
  /** The leases that this call deleted. */
  readonly reclaimed: readonly Reclaimed[];
  /** The holders that it left: alive, unknown, or changed while it looked. */
  readonly kept: readonly Holder[];
  /** Dead holders whose DELETE failed: the next pass looks at them again. */
  readonly skipped: readonly Holder[];
}

/** Which leases to look at. */
export interface ReclaimOptions<S extends Shape> {
  /** The most leases to look at, from 1 to 100,000. Default 1,000; of the tasks in `taskIds`, all. */
  readonly limit?: number | undefined;
  /** Only those of these tasks. Default: all. */
  readonly taskIds?: readonly S['taskId'][] | undefined;
}

const check = requestOf(
  { limit: optional(limit()), taskIds: optional(list(taskId)) } satisfies RulesOf<ReclaimOptions<Shape>>,
  'options',
);

const EMPTY: ReclaimReport = Object.freeze({
  reclaimed: Object.freeze([]),
  kept: Object.freeze([]),
  skipped: Object.freeze([]),
});

/**
 * Deletes the leases of dead owners, exactly those that were judged; safe in any number of processes at once.
 *
 * Does nothing unless the mode is `on`: under `draining` nothing is reclaimed, under `off` the table is not
 * looked at.
 *
 * Fails with `store-failure` if the leases cannot be read or the connection is lost; another DELETE that fails
 * is only skipped.
 */
export function reclaimStaleLeases<S extends Shape>(
  ownership: TransitionOwnership<S>,
  options: ReclaimOptions<NoInfer<S>> = {},
): ResultAsync<ReclaimReport, StoreFailure> {
  const context = contextOf(ownership);
  const { taskIds, ...bound } = check(options, context.settings);
  const { limit = taskIds === undefined ? 1_000 : Math.max(1, taskIds.length) } = bound;
  checkLimit('limit', limit);
  return answered(context.session, reclaimStale(context, { limit, taskIds }));
}

interface Reclaiming {
  readonly limit: number;
  readonly taskIds?: readonly IdValue[] | undefined;
  readonly dryRun?: boolean;
}

/** The verb without its types. */
export async function reclaimStale(
  context: Context,
  { limit, taskIds, dryRun = false }: Reclaiming,
): Promise<Result<ReclaimReport, StoreFailure>> {
  if (context.mode() !== 'on') return ok(EMPTY);
  const read =
    taskIds === undefined ? await readAllJudged(context, limit) : await readJudgedOf(context, taskIds.slice(0, limit));
  if (read.isErr()) return err(read.error);
  const reclaimed: Reclaimed[] = [];
  const kept: Holder[] = [];
  const skipped: Holder[] = [];
  for (const judged of read.value) {
    const { holder, judgement } = judged;
    const deleted = dryRun ? ok(judgement.verdict === 'dead') : await reclaim(context, judged);
    if (deleted.isErr()) {
      if (deleted.error.kind === 'connection') return err(deleted.error);
      skipped.push(holder);
    } else if (deleted.value) reclaimed.push(Object.freeze({ ...holder, ...judgement }));
    else kept.push(holder);
  }
  return ok(
    Object.freeze({
      reclaimed: Object.freeze(reclaimed),
      kept: Object.freeze(kept),
      skipped: Object.freeze(skipped),
    }),
  );
}
