import type { Result } from 'neverthrow';
import { contextOf } from '../context.js';
import type { InvalidId } from '../core/failure.js';
import { parseId } from '../core/parse-id.js';
import type { Shape } from '../shape.js';
import type { TransitionOwnership } from '../transition-ownership.js';

/**
 * Reads the id of a task that comes from outside, a webhook's JSON for instance; never throws for a wrong one.
 *
 * Integers may come as a number or as its decimal digits (`"7"`, but not `"07"`, `"7 "` or `"7.0"`), as a `bigint` too
 * where ids are `bigint`; text comes as text and is not trimmed. Whether there is such a task is not looked at: no
 * statement is sent. Fails with `invalid-id`.
 *
 * @example
 * ```ts
 * import { parseTaskId, shouldDefer } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const body: { taskId?: unknown } = JSON.parse('{ "taskId": "7" }');
 * const taskId = parseTaskId(ownership, body.taskId); // ok(7)
 * if (taskId.isOk()) await shouldDefer(ownership, taskId.value);
 * ```
 */
export function parseTaskId<S extends Shape>(
  ownership: TransitionOwnership<S>,
  given: unknown,
): Result<S['taskId'], InvalidId> {
  return parseId('taskId', contextOf(ownership).settings.taskIdType, given);
}
