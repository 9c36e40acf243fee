import type { Result } from 'neverthrow';
import { type Failure, toError } from 'transition-ownership';

/** The value of a result; throws what it failed with. */
export function orThrow<T>(result: Result<T, Failure>): T {
  if (result.isErr()) throw toError(result.error);
  return result.value;
}
