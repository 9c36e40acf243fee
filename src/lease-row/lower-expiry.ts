import type { Context } from '../context.js';
import { execute } from '../sql/execute.js';
import type { Judged } from './judge-holder.js';

/**
 * Lowers an expiry that lies more than two TTLs ahead to the database's now + TTL: its clock was set back, and a
 * holder that is gone would be waited for as long as that was. One that lives renews it before.
 *
 * Only for who would take the lease: who looks changes nothing. Over the root handle, so that no rollback takes it
 * back; not from a caller's transaction, which may have the only connection. What fails here is reported, and tried again
 * by the next who asks.
 */
export async function lowerExpiry({ session, root }: Context, judged: Judged): Promise<void> {
  const { holder, nowMs, judgement, expiry } = judged;
  const { expiresAtMs, ttlMs, fencingToken, claim } = holder;
  if (session.inTransaction || judgement.verdict === 'dead' || expiresAtMs === null || ttlMs === null) return;
  if (expiresAtMs - nowMs <= 2 * ttlMs) return;
  const claims = { tokens: root.dialect.list([fencingToken]), claims: root.dialect.list([claim]) };
  void (await execute(root.session, root.leases.lowerExpiry({ ...claims, expiry })));
}
