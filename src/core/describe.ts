import { checkObject } from './check.js';
import { nameHolder } from './fail.js';
import type { Failure } from './failure.js';
import { inspectValue } from './inspect-value.js';

const WRONG_SCHEMA =
  'The tables are not as the statement needs them: ensureSchema makes those of the library, the options name yours; the cause is in `cause`.';

/**
 * A failure as a paragraph for people: what happened, what is known, what to do.
 *
 * @example
 * ```ts
 * import { describeFailure } from 'transition-ownership';
 *
 * const text = describeFailure({ type: 'already-free', message: 'Task 7 is held by no one.' });
 * // text: 'Task 7 is held by no one. There is nothing to release.'
 * ```
 */
export function describeFailure(failure: Failure): string {
  checkFailure(failure);
  return `${failure.message} ${advice(failure)}`;
}

function advice(failure: Failure): string {
  switch (failure.type) {
    case 'lease-busy':
      return failure.holder === null
        ? 'Defer, and try again later.'
        : `Defer: the transition belongs to ${nameHolder(failure.holder)} until it releases, expires or is proved dead.`;
    case 'not-granting':
      return 'Holders go on; ask again when the mode is on, or with another ownership.';
    case 'lease-lost':
      return 'Stop now and start nothing irreversible; the fenced stage write fails if it comes too late.';
    case 'not-enough-time':
      return 'Do not start the step: the lease could end in the middle of it.';
    case 'lost-race':
      return 'Nothing was written; whoever moved the stage owns what follows.';
    case 'task-not-found':
      return 'Nothing was written.';
    case 'illegal-transition':
      return 'No statement was sent; see the map given to defineStages.';
    case 'handler-failed':
      return 'The lease was released; the cause is in `cause`.';
    case 'effect-unknown':
      return 'Look in the outside system, then say what you saw with resolveEffect; it is not repeated on a guess.';
    case 'effect-failed':
      return 'It certainly did nothing and may be tried again; the cause is in `cause`.';
    case 'effect-unrecorded':
      return 'It happened: do not do it by other means. Run it again in this process, which only writes it down; if this process ends first, say it with resolveEffect.';
    case 'token-mismatch':
      return 'Nothing was released; look again and name the present token if that one is meant.';
    case 'already-free':
      return 'There is nothing to release.';
    case 'invalid-id':
      return 'Nothing was looked up; reject the request of whoever sent it.';
    case 'store-failure':
      if (failure.kind === 'schema') return WRONG_SCHEMA;
      return failure.retryable
        ? 'The same call may succeed later.'
        : 'Trying again will not help before the cause, in `cause`, is mended.';
    default:
      return unknown(failure);
  }
}

/** Every type has its advice, or this does not compile; a caller without types may bring any other. */
function unknown(failure: never): never {
  const { type } = failure as Failure;
  throw new TypeError(`failure must be one of this library’s, got the type ${inspectValue(type)}`);
}

function checkFailure(failure: unknown): void {
  checkObject('failure', failure);
  for (const part of ['type', 'message'] as const) {
    const value: unknown = Reflect.get(failure, part);
    if (typeof value !== 'string') throw new TypeError(`failure.${part} must be a string, got ${inspectValue(value)}`);
  }
}

/** An `Error` of a failure, for code that throws. */
export interface FailureError extends Error {
  /** The failure that it was made of. */
  readonly failure: Failure;
}

/** Makes a real `Error` of a failure: its `name` is the type and its `cause` the failure's own cause. */
export function toError(failure: Failure): FailureError {
  checkFailure(failure);
  const cause = 'cause' in failure ? { cause: failure.cause } : undefined;
  const error = Object.assign(new Error(failure.message, cause), { failure });
  error.name = failure.type;
  return error;
}
