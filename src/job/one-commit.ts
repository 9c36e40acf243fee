import type { Result } from 'neverthrow';
import type { StoreFailure } from '../core/failure.js';
import { transact } from '../sql/execute.js';
import type { Session } from '../sql/session.js';

/** Runs statements that become true together: in the caller's transaction where there is one, else in our own. */
export function inOneCommit<T>(
  session: Session,
  work: (session: Session) => Promise<Result<T, StoreFailure>>,
): Promise<Result<T, StoreFailure>> {
  return session.inTransaction ? work(session) : transact(session, work);
}
