import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { IdValue } from '../core/id.js';
import { checkLimit } from '../core/limit.js';
import { mayReclaim } from '../core/mode.js';
import { limit, list, optional, type RulesOf, requestOf, taskId } from '../core/request.js';
import type { Judgement } from '../core/verdict.js';
import type { Judged } from '../lease-row/judge-holder.js';
import { lowerExpiry } from '../lease-row/lower-expiry.js';
import { type JudgedRows, pagesOfJudged, seekJudgedOf, type Unreadable } from '../lease-row/read-holder.js';
import { reclaim } from '../lease-row/reclaim.js';
import type { Shape } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';

/** A dead owner's lease that this call deleted. */
export interface Reclaimed extends Holder, Judgement {}

/** What a pass over the leases did. */
export interface ReclaimReport {
  /** The leases that this call deleted. */
  readonly reclaimed: readonly Reclaimed[];
  /** The holders that it left: alive, unknown, or changed while it looked. */
  readonly kept: readonly Holder[];
  /** Dead holders whose DELETE failed, or whose row an open transaction has locked: the next pass looks at them again. */
  readonly skipped: readonly Holder[];
  /** Rows that cannot be read: each is reported by `store.failed` and left alone. */
  readonly unreadable: number;
}

/** Which leases to look at. */
export interface ReclaimOptions<S extends Shape> {
  /**
   * The most dead leases to deal with, from 1 to 100,000, the oldest first; those that are kept do not count, so that
   * no number of them hides a dead one. Default 1,000; of the tasks in `taskIds`, all.
   */
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
  unreadable: 0,
});

/**
 * Deletes the leases of dead owners, exactly those that were judged; safe in any number of processes at once.
 *
 * Does nothing unless the mode is `on`: under `draining` nothing is reclaimed, under `off` the table is not
 * looked at. Leases are read page by page, row by row: one that cannot be read stops no other. Where the database's
 * clock was set back, an expiry more than two TTLs ahead is lowered to a TTL from now.
 *
 * Fails with `store-failure` if the leases cannot be read or the connection is lost; another DELETE that fails
 * is only skipped, and so is a row that an open transaction has locked: nobody waits for it.
 */
export function reclaimStaleLeases<S extends Shape>(
  ownership: TransitionOwnership<S>,
  options: ReclaimOptions<NoInfer<S>> = {},
): ResultAsync<ReclaimReport, StoreFailure> {
  const context = contextOf(ownership);
  const { taskIds, ...bound } = check(options, context.settings);
  const { limit = taskIds === undefined ? 1_000 : Math.max(1, taskIds.length) } = bound;
  checkLimit('limit', limit);
  return neverReject(context.session, reclaimStale(context, { limit, taskIds }));
}

interface Reclaiming {
  readonly limit: number;
  readonly taskIds?: readonly IdValue[] | undefined;
  readonly dryRun?: boolean;
}

/** The verb without its types. */
export async function reclaimStale(
  context: Context,
  reclaiming: Reclaiming,
): Promise<Result<ReclaimReport, StoreFailure>> {
  if (!mayReclaim(context.mode())) return ok(EMPTY);
  const work = () => reclaimDead(context, reclaiming);
  return reclaiming.dryRun ? work() : suited(context, ['lease'], work);
}

async function reclaimDead(
  context: Context,
  { limit, taskIds, dryRun = false }: Reclaiming,
): Promise<Result<ReclaimReport, StoreFailure>> {
  const reclaimed: Reclaimed[] = [];
  const kept: Holder[] = [];
  const skipped: Holder[] = [];
  let unreadable = 0;
  for await (const page of taskIds === undefined ? pagesOfJudged(context) : pageOf(context, taskIds)) {
    if (page.isErr()) return err(page.error);
    unreadable += page.value.unreadable.length;
    for (const judged of page.value.judged) {
      if (reclaimed.length + skipped.length >= limit) break;
      const { holder, judgement } = judged;
      if (!dryRun) await lowerExpiry(context, judged);
      const dead = judgement.verdict === 'dead';
      const deleted = dryRun ? ok(dead ? 'reclaimed' : 'kept') : await reclaim(context, judged);
      if (deleted.isErr()) {
        if (deleted.error.kind === 'connection') return err(deleted.error);
        skipped.push(holder);
      } else if (deleted.value === 'locked') skipped.push(holder);
      else if (deleted.value === 'reclaimed') reclaimed.push(Object.freeze({ ...holder, ...judgement }));
      else kept.push(holder);
    }
    if (reclaimed.length + skipped.length >= limit) break;
  }
  return ok(
    Object.freeze({
      reclaimed: Object.freeze(reclaimed),
      kept: Object.freeze(kept),
      skipped: Object.freeze(skipped),
      unreadable,
    }),
  );
}

/** The holders of the tasks of a list, each once however often and in how many spellings it is named. */
async function* pageOf(
  context: Context,
  taskIds: readonly IdValue[],
): AsyncGenerator<Result<JudgedRows, StoreFailure>, void> {
  const sought = await seekJudgedOf(context, taskIds);
  yield sought.map(({ byId, unplaced }) => {
    const judged = new Map<string, Judged>();
    const unreadable: Unreadable[] = unplaced ? [{ taskId: null, claim: null }] : [];
    for (const [taskId, found] of byId) {
      if (found === 'unreadable') unreadable.push({ taskId, claim: null });
      else judged.set(found.holder.claim, found);
    }
    const byToken = [...judged.values()].sort((a, b) => a.holder.fencingToken - b.holder.fencingToken);
    return { judged: byToken, unreadable };
  });
}
