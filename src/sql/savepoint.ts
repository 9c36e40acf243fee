import { err, type Result } from 'neverthrow';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { execute } from './execute.js';
import { neverReject } from './never-reject.js';
import type { Session } from './session.js';

/**
 * Runs statements in a caller's transaction that become true together or not at all: a failure takes back all of them,
 * and nothing of the caller's.
 */
export async function inSavepoint<T>(
  session: Session,
  work: () => Promise<Result<T, StoreFailure>>,
): Promise<Result<T, StoreFailure>> {
  const { set, undo, keep } = session.dialect.savepoint;
  const begun = await execute(session, set.compile(session.database), 'once');
  if (begun.isErr()) return err(begun.error);
  const worked = await neverReject(session, work());
  const ended = await execute(session, (worked.isOk() ? keep : undo).compile(session.database), 'once');
  if (worked.isOk()) return ended.isErr() ? err(ended.error) : worked;
  // No such savepoint: the database has taken the whole transaction back. Else no one knows what of it stands.
  const isBack = ended.isOk() || (ended.error.outcome === 'not-applied' && /^(schema|other)$/.test(ended.error.kind));
  const { transactionEnded, ...failure } = worked.error;
  // Back at the savepoint, the transaction goes on.
  const isOver = !ended.isOk() && (transactionEnded || ended.error.transactionEnded || isBack);
  const outcome = isBack ? 'not-applied' : 'unknown';
  return err(storeFailure({ ...failure, outcome, ...(isOver && { transactionEnded: true }) }));
}
