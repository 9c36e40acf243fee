import type { Result } from 'neverthrow';
import { contextOf } from '../context.js';
import type { InvalidId } from '../core/failure.js';
import { parseId } from '../core/parse-id.js';
import type { ShapeWithJobs } from '../shape.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { jobsOf } from './jobs-of.js';

/**
 * Reads the id of a job that comes from outside, as `parseTaskId` does that of a task; never throws for a wrong one.
 *
 * Fails with `invalid-id`. Throws `TypeError` without the option `jobs`.
 *
 * @example
 * ```ts
 * import { parseJobId } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const jobId = parseJobId(ownership, '7 ');
 * jobId.mapErr(({ type }) => type); // err('invalid-id')
 * ```
 */
export function parseJobId<S extends ShapeWithJobs>(
  ownership: TransitionOwnership<S>,
  given: unknown,
): Result<S['jobs']['id'], InvalidId> {
  const { settings } = jobsOf(contextOf(ownership), 'parseJobId');
  return parseId('jobId', settings.idType, given);
}
