import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { checkDuration } from '../core/duration.js';
import { notEnoughTime } from '../core/fail.js';
import type { LeaseLost, NotEnoughTime, StoreFailure } from '../core/failure.js';
import type { Lease } from '../core/lease.js';
import { anchorNow } from '../holding/anchor.js';
import type { Holding } from '../holding/holding.js';
import { secretOf } from '../holding/lease-handle.js';
import { confirm } from './confirm-lease.js';
import { notWanted, type RenewalState, renewClaims } from './renew-claims.js';
import { rowMissing } from './row-missing.js';

/** Throws for a time that no lease could have left. */
export function checkEnsure(ms: unknown): asserts ms is number {
  checkDuration('ms', ms, 0);
}

/**
 * Verifies in the database, now, that the lease is ours with at least `ms` left: one statement, which renews. In a
 * caller's transaction it locks the row in place of that, until the transaction ends.
 *
 * A row that another session has locked cannot be renewed at this moment: what it had left counts then.
 */
export async function ensure(
  context: Context,
  lease: Lease,
  ms: number,
): Promise<Result<Lease, LeaseLost | NotEnoughTime | StoreFailure>> {
  const secret = secretOf(lease, context.root);
  if (!secret.guarded) return ok(lease);
  const verified = await verify(context, lease, secret.holding, ms);
  // Who only observes is held up by nothing; what was found was reported.
  return verified.isErr() && context.mode() === 'observe' ? ok(lease) : verified;
}

async function verify(
  context: Context,
  lease: Lease,
  holding: Holding,
  ms: number,
): Promise<Result<Lease, LeaseLost | NotEnoughTime | StoreFailure>> {
  const lost = holding.check();
  if (lost !== undefined) return err(lost);
  const anchor = anchorNow(context.ports.clock);
  const { inTransaction } = context.session;
  const seen = await (inTransaction ? confirm(context, holding) : renew(context, holding));
  if (seen.isErr()) return err(seen.error);
  const state = seen.value;
  if (state === undefined) return err(notWanted(holding));
  if (state.is === 'missing') return err(rowMissing(context, holding, state.holder));
  if (state.is === 'renewed') holding.verify(anchor);
  const stillLost = holding.check();
  if (stillLost !== undefined) return err(stillLost);
  const leftMs = Math.floor(state.remainingMs);
  return leftMs < ms ? err(notEnoughTime(ms, Math.max(0, leftMs))) : ok(lease);
}

/** `undefined`: it was trusted no more, or given up, before the statement could be sent. */
async function renew(context: Context, holding: Holding): Promise<Result<RenewalState | undefined, StoreFailure>> {
  const renewed = await renewClaims(context, [holding]);
  return renewed.map(([renewal]) => renewal?.state);
}
