import type { ResultAsync } from 'neverthrow';
import type { StoreFailure } from '../core/failure.js';
import type { FoundOf } from '../job/found-job.js';
import type { Shape } from '../shape.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { type RecoveryReportWith, type RecoveryRequest, recover } from './recover.js';

/** The same as {@link recover}, by the name of its first use: call it at a start, before any new work is taken. */
export function recoverOnStartup<S extends Shape>(
  ownership: TransitionOwnership<S>,
  request: RecoveryRequest<NoInfer<S>>,
): ResultAsync<RecoveryReportWith<S['taskId'], FoundOf<S>>, StoreFailure> {
  return recover(ownership, request);
}
