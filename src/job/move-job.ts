import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import { changed, execute } from '../sql/execute.js';
import type { Move } from '../sql/job-returns.js';
import { executeOnce } from '../sql/one-row.js';
import type { Session } from '../sql/session.js';
import type { Jobs } from './jobs-of.js';
import { inOneCommit } from './one-commit.js';

/**
 * Changes the status of a job if it is just as it was seen; true if this call did.
 *
 * A row that another session has locked is passed over and not waited for: one open transaction must not keep a walk
 * from the rest. The next walk meets it again. Never sent again after a lost reply, for it would not be known who did it.
 */
export async function moveJob({ session }: Context, jobs: Jobs, move: Move): Promise<Result<boolean, StoreFailure>> {
  if (!session.dialect.returning) return inOneCommit(session, (inside) => moveLocked(inside, jobs, move));
  const written = await executeOnce(session, jobs.keyed(), jobs.statements.move(move), 'once');
  return written.map((reply) => changed(session, reply));
}

/** Locks the row and changes it by its key alone: elsewhere a locked row is passed over only by a read. */
async function moveLocked(
  session: Session,
  { statements, keyed }: Jobs,
  move: Move,
): Promise<Result<boolean, StoreFailure>> {
  const locked = await execute(session, statements.lockSeen(move), 'once');
  if (locked.isErr()) return err(locked.error);
  if (locked.value.rows.length === 0) return ok(false);
  const written = await executeOnce(session, keyed(), statements.moveLocked(move), 'once');
  return written.map(() => true);
}
