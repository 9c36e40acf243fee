import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import { anchorNow, elapsedMs } from '../holding/anchor.js';
import type { Holding } from '../holding/holding.js';
import { execute } from '../sql/execute.js';
import { demandInteger } from '../sql/rows.js';
import { readJudged } from './read-holder.js';
import type { RenewalState } from './renew-claims.js';

/**
 * Looks at the row of a lease in a caller's transaction, and keeps it from being deleted until that ends.
 *
 * It is not renewed: what a rollback may take back proves nothing to others, and renewals go on over the root handle.
 */
export async function confirm(context: Context, { facts }: Holding): Promise<Result<RenewalState, StoreFailure>> {
  const { session, leases, dialect, ports } = context;
  const { taskId, claim } = facts;
  if (dialect.onlyWritesAreCurrent) {
    const touched = await execute(session, leases.touch({}));
    if (touched.isErr()) return err(touched.error);
  }
  const askedAt = anchorNow(ports.clock);
  const read = await execute(session, leases.confirm({ taskId, claim }));
  if (read.isErr()) return err(read.error);
  const tookMs = elapsedMs(ports.clock, askedAt);
  const [row] = read.value.rows;
  if (row !== undefined) {
    return ok({ is: 'locked', remainingMs: demandInteger(row, 'expires_ms') - demandInteger(row, 'now_ms') - tookMs });
  }
  const judged = await readJudged(context, taskId);
  return judged.map((seen) => ({ is: 'missing', holder: seen?.holder ?? null }));
}
