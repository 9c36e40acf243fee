import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { Holding } from '../runtime/holding.js';
import { execute, type Row } from '../sql/execute.js';
import type { Claims } from '../sql/lease-statements.js';
import { demandInteger, readInteger, readText } from '../sql/rows.js';
import { readJudgedOf } from './read-holder.js';

/** What a renewal found of one lease. */
export type RenewalState =
  | { readonly is: 'renewed'; readonly expiresAtMs: number; readonly remainingMs: number }
  | { readonly is: 'locked' }
  | { readonly is: 'missing'; readonly holder: Holder | null };

/** One lease with what its renewal found. */
export interface Renewal {
  readonly holding: Holding;
  readonly state: RenewalState;
}

/**
 * Renews the leases of a list in one statement, over the root handle: an UPDATE, never an upsert, so that it
 * revives nothing. Rows that it did not touch are looked at once more: there means locked, not lost.
 */
export async function renewClaims(
  { root }: Context,
  holdings: readonly Holding[],
): Promise<Result<readonly Renewal[], StoreFailure>> {
  const claims = claimsOf(root, holdings);
  const updated = await execute(root.session, root.leases.renew(claims));
  if (updated.isErr()) return err(updated.error);
  const answered = root.dialect.returning ? updated : await execute(root.session, root.leases.readClaims(claims));
  if (answered.isErr()) return err(answered.error);

  const rows = new Map(answered.value.rows.map((row) => [readText(row['claim']), row]));
  const states = new Map<string, RenewalState>();
  for (const holding of holdings) {
    const row = rows.get(holding.facts.claim);
    if (row !== undefined) states.set(holding.facts.claim, stateOf(holding, row, root.dialect.returning));
  }
  const missing = holdings.filter(({ facts }) => !states.has(facts.claim));
  if (missing.length > 0) {
    const read = await readJudgedOf(
      root,
      missing.map(({ facts }) => facts.taskId),
    );
    if (read.isErr()) return err(read.error);
    const holders = new Map(read.value.map(({ holder }) => [holder.taskId, holder]));
    for (const { facts } of missing) {
      const holder = holders.get(facts.taskId) ?? null;
      states.set(facts.claim, holder?.claim === facts.claim ? { is: 'locked' } : { is: 'missing', holder });
    }
  }
  return ok(holdings.map((holding) => ({ holding, state: states.get(holding.facts.claim) ?? { is: 'locked' } })));
}

/** The acquisitions of a list of holdings, as the statements take them. */
export function claimsOf({ dialect }: Context, holdings: readonly Holding[]): Claims {
  return {
    tokens: dialect.list(holdings.map(({ facts }) => facts.fencingToken)),
    claims: dialect.list(holdings.map(({ facts }) => facts.claim)),
  };
}

/** A row that the update answered was renewed; one that was read back was if its expiry has moved, or can move no more. */
function stateOf(holding: Holding, row: Row, answered: boolean): RenewalState {
  const expiresAtMs = demandInteger(row, 'expires_ms');
  const renewed = answered || expiresAtMs !== holding.expiresAtMs || expiresAtMs === readInteger(row['deadline_ms']);
  if (!renewed) return { is: 'locked' };
  holding.expiresAtMs = expiresAtMs;
  return { is: 'renewed', expiresAtMs, remainingMs: expiresAtMs - demandInteger(row, 'now_ms') };
}
