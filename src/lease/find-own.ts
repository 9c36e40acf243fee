import { err, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { LeaseBusy, StoreFailure } from '../core/failure.js';
import type { Lease } from '../core/lease.js';
import { anchorNow } from '../holding/anchor.js';
import { findTask } from '../lease-row/find-task.js';
import { type Keyed, type Refused, settle } from './acquisition.js';

/** A broken insert may have left its row all the same: the claim shows it. */
export async function findOwn(
  context: Context,
  { pending }: Keyed,
  failure: StoreFailure,
): Promise<Result<Lease, LeaseBusy | Refused | StoreFailure>> {
  if (failure.outcome !== 'unknown' || context.session.inTransaction) return err(failure);
  const askedAt = anchorNow(context.ports.clock);
  const found = (await findTask(context, pending.request, 'look')).unwrapOr(null);
  const { judged } = found ?? { judged: null };
  if (found === null || judged === null || !('judgement' in judged) || judged.holder.claim !== pending.claim)
    return err(failure);
  const settled = await settle(context, { pending, key: found.taskId }, found, { askedAt, mayHaveWritten: true });
  const own = settled.unwrapOr(undefined);
  return own === undefined || (own.isErr() && own.error.type === 'lease-busy') ? err(failure) : own;
}
