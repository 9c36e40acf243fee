import type { Context } from '../context.js';
import { leaseLost } from '../core/fail.js';
import type { LeaseLost } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { Holding } from '../holding/holding.js';

/**
 * The row of a lease was looked for and is not there: the lease is lost.
 *
 * Only returned, and not held against the lease, where the look proves nothing: a transaction may see an old
 * state, a provisional row is there for no one else before its commit, and its owner may have released it.
 */
export function rowMissing({ session, renewer }: Context, holding: Holding, holder: Holder | null): LeaseLost {
  const { taskId, fencingToken } = holding.facts;
  const found = holder === null ? ({ reason: 'gone' } as const) : ({ reason: 'superseded', holder } as const);
  const recorded = session.inTransaction ? undefined : holding.gone(holder);
  if (holding.state === 'released') renewer.drop(holding);
  // What is seen now says more than what was feared before.
  return recorded?.reason === found.reason ? recorded : leaseLost({ taskId, fencingToken, ...found });
}
