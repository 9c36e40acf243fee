import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import { inspectValue } from '../core/inspect-value.js';
import type { Lease } from '../core/lease.js';
import { type Holding, trustedOf } from '../holding/holding.js';
import { secretOf } from '../holding/lease-handle.js';
import { released, releasing } from '../lease-row/released.js';
import { claimsOf } from '../lease-row/renew-claims.js';
import type { Shape } from '../shape.js';
import { execute } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import { readText } from '../sql/rows.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { type ReleaseOutcome, release, releaseFailed } from './give-back.js';

/** Leases in one statement. */
const CHUNK = 500;

/**
 * Gives many leases back in few statements; returns one outcome for each, in their order.
 *
 * A `store-failure` leaves the rows of its statement to expire.
 */
export function releaseLeases<S extends Shape>(
  ownership: TransitionOwnership<S>,
  leases: readonly Lease<NoInfer<S>['taskId']>[],
): ResultAsync<readonly ReleaseOutcome[], StoreFailure> {
  const context = contextOf(ownership);
  if (!Array.isArray(leases)) throw new TypeError(`leases must be an array, got ${inspectValue(leases)}`);
  for (const lease of leases as readonly Lease[]) secretOf(lease, context.root);
  return neverReject(context.session, releaseAll(context, [...(leases as readonly Lease[])]));
}

async function releaseAll(
  context: Context,
  leases: readonly Lease[],
): Promise<Result<readonly ReleaseOutcome[], StoreFailure>> {
  const inHand = leases.flatMap((lease) => {
    const secret = secretOf(lease, context.root);
    return secret.guarded && secret.holding.state !== 'released' ? [secret.holding] : [];
  });
  const releasedNow = new Set<Holding>();
  if (context.dialect.returning) {
    for (let at = 0; at < inHand.length; at += CHUNK) {
      const chunk = [...new Set(inHand.slice(at, at + CHUNK))];
      const failure = await releasing(chunk, () => releaseChunk(context, chunk, releasedNow));
      if (failure !== undefined) return err(failure);
    }
  }
  const outcomes: ReleaseOutcome[] = [];
  for (const lease of leases) {
    const secret = secretOf(lease, context.root);
    if (secret.guarded && releasedNow.delete(secret.holding)) outcomes.push('released');
    else {
      const one = await release(context, lease);
      if (one.isErr()) return err(one.error);
      outcomes.push(one.value.outcome);
    }
  }
  return ok(Object.freeze(outcomes));
}

/** Deletes the rows of a chunk; those that were there are gone, the others are looked at one by one. */
async function releaseChunk(
  context: Context,
  holdings: readonly Holding[],
  releasedNow: Set<Holding>,
): Promise<StoreFailure | undefined> {
  const lostBefore = new Set(holdings.filter((holding) => holding.check() !== undefined));
  const query = context.leases.releaseMany(claimsOf(context, holdings));
  const deleted = await execute(context.session, query, 'repeatable', trustedOf(holdings));
  if (deleted.isErr()) {
    for (const holding of holdings) releaseFailed(context, holding, deleted.error);
    return deleted.error;
  }
  const claims = new Set(deleted.value.rows.map((row) => readText(row['claim'])));
  for (const holding of holdings) {
    const gone = claims.has(holding.facts.claim) || (deleted.value.repeated && !lostBefore.has(holding));
    if (!gone || holding.state === 'released') continue;
    released(context, holding);
    releasedNow.add(holding);
  }
  return undefined;
}
