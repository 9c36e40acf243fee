import { err, ok, type Result } from 'neverthrow';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import type { Fragment, NamedTable } from '../dialect/dialect.js';
import { execute, type Row, transact } from './execute.js';
import { neverReject } from './never-reject.js';
import type { Session } from './session.js';

/** Runs a change of the schema in a transaction, one process at a time. */
export function changeSchema<T>(
  session: Session,
  named: NamedTable,
  work: (session: Session) => Promise<Result<T, StoreFailure>>,
): Promise<Result<T, StoreFailure>> {
  const { schemaLock } = session.dialect;
  return transact(session, async (inside) => {
    const entered = await all(inside, schemaLock.enter(named));
    if (entered.isErr()) return err(entered.error);
    // On MySQL lock and time zone outlive the transaction, in a session that goes back to the caller's pool.
    const worked = await neverReject(inside, work(inside));
    const left = await all(inside, schemaLock.leave(named));
    return worked.isOk() && left.isErr() ? err(left.error) : worked;
  });
}

const NOT_LET_THROUGH = Object.freeze({
  kind: 'busy',
  retryable: true,
  outcome: 'not-applied',
  cause: 'another process is changing the schema',
} as const);

async function all(session: Session, fragments: readonly Fragment[]): Promise<Result<void, StoreFailure>> {
  for (const fragment of fragments) {
    const sent = await execute(session, fragment.compile(session.database), 'once');
    if (sent.isErr()) return err(sent.error);
    if (sent.value.rows.some(isRefused)) return err(storeFailure(NOT_LET_THROUGH));
  }
  return ok(undefined);
}

/** A lock whose statement says whether it was granted, and was not. */
function isRefused(row: Row): boolean {
  return 'granted' in row && Number(row['granted']) !== 1;
}
