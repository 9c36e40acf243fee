import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { checkDuration } from '../core/duration.js';
import { jsonId } from '../core/event.js';
import type { LeaseLost, StoreFailure } from '../core/failure.js';
import type { Lease } from '../core/lease.js';
import { anchorNow } from '../holding/anchor.js';
import type { Holding } from '../holding/holding.js';
import { LeaseHandle, secretOf } from '../holding/lease-handle.js';
import { execute, type Row } from '../sql/execute.js';
import { demandInteger, readText } from '../sql/rows.js';
import { readJudged } from './read-holder.js';
import { claimsOf, notWanted, stillWanted } from './renew-claims.js';
import { rowMissing } from './row-missing.js';

/** Throws for a bound that is none, that would shorten the hold, or that a rollback could take back. */
export function checkExtend(context: Context, lease: Lease, maxHoldMs: unknown): asserts maxHoldMs is number {
  checkDuration('maxHoldMs', maxHoldMs);
  const secret = secretOf(lease, context.root);
  if (context.session.inTransaction) {
    throw new TypeError('extend must not run in a transaction: what a rollback may take back bounds nothing');
  }
  if (secret.guarded && maxHoldMs < secret.holding.maxHoldMs) {
    throw new RangeError(
      `maxHoldMs must be at least the present bound of ${secret.holding.maxHoldMs} ms, got ${maxHoldMs}: a hold is never shortened`,
    );
  }
}

/**
 * Moves the hard bound of a hold, fenced by the acquisition: one UPDATE, which renews as well. A hold whose bound has
 * passed is over and is not revived.
 */
export async function extend(
  context: Context,
  lease: Lease,
  maxHoldMs: number,
): Promise<Result<Lease, LeaseLost | StoreFailure>> {
  const secret = secretOf(lease, context.root);
  if (!secret.guarded) return ok(lease);
  const { holding } = secret;
  const lost = holding.check() ?? context.survey.fileReplaced();
  if (lost !== undefined) return err(lost);
  const { taskId, claim, fencingToken, actor } = holding.facts;
  const anchor = anchorNow(context.ports.clock);
  const isWanted = stillWanted(context, [holding]);
  const row = await update(context, { taskId, claim, maxHoldMs }, holding, () => isWanted(holding));
  if (row.isErr()) return err(row.error);
  if (row.value === 'not-wanted') return err(notWanted(holding));
  if (row.value === undefined) {
    const judged = await readJudged(context, taskId);
    if (judged.isErr()) return err(judged.error);
    const holder = judged.value?.holder ?? null;
    return err(holder?.claim === claim ? holding.lose('over-budget') : rowMissing(context, holding, holder));
  }
  const expiresAtMs = demandInteger(row.value, 'expires_ms');
  const deadlineAtMs = demandInteger(row.value, 'deadline_ms');
  holding.extended(maxHoldMs, expiresAtMs);
  holding.verify(anchor);
  const stillLost = holding.check();
  if (stillLost !== undefined) return err(stillLost);
  context.observer.emit('lease.renewed', { taskId: jsonId(taskId), fencingToken, actor, expiresAtMs });
  return ok(Object.freeze(new LeaseHandle({ ...lease, expiresAtMs, deadlineAtMs }, secret)));
}

interface Extension {
  readonly taskId: Lease['taskId'];
  readonly claim: string;
  readonly maxHoldMs: number;
}

/** The row with its new bound; `undefined` if there is none that may have it. Each try asks whether it is wanted. */
async function update(
  context: Context,
  given: Extension,
  holding: Holding,
  isWanted: () => boolean,
): Promise<Result<Row | 'not-wanted' | undefined, StoreFailure>> {
  const { session, leases, dialect } = context;
  let wanted = true;
  const updated = await execute(session, () => {
    wanted = isWanted();
    return wanted ? leases.extend(given) : undefined;
  });
  if (!wanted) return ok('not-wanted');
  if (updated.isErr() || dialect.returning) return updated.map(({ rows }) => rows[0]);
  const read = await execute(session, leases.readTokens({ tokens: claimsOf(context, [holding]).tokens }));
  return read.map(({ rows }) =>
    rows.find(
      (row) =>
        readText(row['claim']) === given.claim &&
        demandInteger(row, 'deadline_ms') === demandInteger(row, 'acquired_ms') + given.maxHoldMs,
    ),
  );
}
