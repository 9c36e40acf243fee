import { err, type Result, ResultAsync } from 'neverthrow';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import type { Session } from './session.js';
import { UnreadableRow } from './unreadable-row.js';

/**
 * The result of a verb, which never rejects: what breaks on its way where nothing should, by a row that no one can
 * read or by a fault of ours, is a failure too. What the verb had written by then is not known.
 */
export function neverReject<T, E>(session: Session, work: Promise<Result<T, E>>): ResultAsync<T, E | StoreFailure> {
  return new ResultAsync<T, E | StoreFailure>(work.catch((cause: unknown) => err(broken(session, cause))));
}

function broken({ observer }: Session, cause: unknown): StoreFailure {
  const kind = cause instanceof UnreadableRow ? 'schema' : 'other';
  const failure = storeFailure({ kind, retryable: false, outcome: 'unknown', cause });
  observer.emit('store.failed', { kind, retryable: false, outcome: 'unknown', message: failure.message });
  return failure;
}
