import { contextOf } from '../context.js';
import type { ShapeWithJobs } from '../shape.js';
import { runColumns } from '../sql/job-columns.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { jobsOf } from './jobs-of.js';

/** The status `queued`, and null in every column of run ownership. */
export type ClearedRunOwnership<S extends ShapeWithJobs> = S['jobs']['cleared'];

/**
 * The SET of every way back to the queue, for UPDATEs of your own: the status, and all run ownership cleared.
 *
 * @example
 * ```ts
 * import { clearedRunOwnership } from 'transition-ownership';
 * import { db, ownership } from './setup.js';
 *
 * await db
 *   .updateTable('jobs')
 *   .set({ ...clearedRunOwnership(ownership), available_at: null })
 *   .where('status', '=', 'failed')
 *   .execute();
 * ```
 */
export function clearedRunOwnership<S extends ShapeWithJobs>(
  ownership: TransitionOwnership<S>,
): ClearedRunOwnership<S> {
  const { settings } = jobsOf(contextOf(ownership), 'clearedRunOwnership');
  const columns = runColumns(settings).map((column) => [column, null] as const);
  return Object.freeze({ [settings.status]: settings.statuses.queued, ...Object.fromEntries(columns) });
}
