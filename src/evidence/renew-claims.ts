import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import { invariant } from '../core/invariant.js';
import { anchorNow, elapsedMs, type Holding } from '../runtime/holding.js';
import { type Answer, execute, type Row } from '../sql/execute.js';
import type { Claims } from '../sql/lease-statements.js';
import { demandInteger, readInteger, readText } from '../sql/rows.js';
import type { Judged } from './judge-holder.js';
import { readJudgedOf } from './read-holder.js';

/** What a renewal found of one lease; what remains is less the time that the answer took, on our own clock. */
export type RenewalState =
  | { readonly is: 'renewed'; readonly expiresAtMs: number; readonly remainingMs: number }
  | { readonly is: 'locked'; readonly remainingMs: number }
  | { readonly is: 'missing'; readonly holder: Holder | null };

/** One lease with what its renewal found. */
export interface Renewal {
  readonly holding: Holding;
  readonly state: RenewalState;
}

/**
 * Renews the leases of a list in one statement, outside every transaction of the caller's: an UPDATE, never an upsert, so that it
 * revives nothing. Rows that it did not touch are looked at once more: there means locked, not lost.
 */
export async function renewClaims(
  context: Context,
  holdings: readonly Holding[],
): Promise<Result<readonly Renewal[], StoreFailure>> {
  const claims = claimsOf(context, holdings);
  const updated = await ask(context, context.leases.renew(claims));
  if (updated.isErr()) return err(updated.error);
  const answered = context.dialect.returning ? updated : await ask(context, context.leases.readTokens(claims));
  if (answered.isErr()) return err(answered.error);

  const rows = new Map(answered.value.rows.map((row) => [readText(row['claim']), row]));
  const states = new Map<string, RenewalState>();
  for (const holding of holdings) {
    const row = rows.get(holding.facts.claim);
    if (row !== undefined) states.set(holding.facts.claim, stateOf(context, holding, { row, ...answered.value }));
  }
  const missing = holdings.filter(({ facts }) => !states.has(facts.claim));
  if (missing.length > 0) {
    const askedAt = anchorNow(context.ports.clock);
    const read = await readJudgedOf(
      context,
      missing.map(({ facts }) => facts.taskId),
    );
    if (read.isErr()) return err(read.error);
    const tookMs = elapsedMs(context.ports.clock, askedAt);
    const seen = new Map(read.value.map((judged) => [judged.holder.taskId, judged]));
    for (const { facts } of missing) states.set(facts.claim, unanswered(facts.claim, seen.get(facts.taskId), tookMs));
  }
  return ok(
    holdings.map((holding) => {
      const state = states.get(holding.facts.claim);
      invariant(state !== undefined, 'a renewal tells every lease');
      return { holding, state };
    }),
  );
}

/** A row that the update did not touch: somebody has locked it, or it is not there. */
function unanswered(claim: string, seen: Judged | undefined, tookMs: number): RenewalState {
  if (seen?.holder.claim !== claim) return { is: 'missing', holder: seen?.holder ?? null };
  return { is: 'locked', remainingMs: (seen.holder.expiresAtMs ?? seen.nowMs) - seen.nowMs - tookMs };
}

/** An answer with the time that it took. */
async function ask(
  { session, ports }: Context,
  query: Parameters<typeof execute>[1],
): Promise<Result<Answer & { readonly tookMs: number }, StoreFailure>> {
  const askedAt = anchorNow(ports.clock);
  const answer = await execute(session, query);
  return answer.map((given) => ({ ...given, tookMs: elapsedMs(ports.clock, askedAt) }));
}

/** The acquisitions of a list of holdings, as the statements take them. */
export function claimsOf({ dialect }: Context, holdings: readonly Holding[]): Claims {
  return {
    tokens: dialect.list(holdings.map(({ facts }) => facts.fencingToken)),
    claims: dialect.list(holdings.map(({ facts }) => facts.claim)),
  };
}

/** A row that the update answered was renewed; one that was read back was if its expiry has moved, or can move no more. */
function stateOf(
  { dialect }: Context,
  holding: Holding,
  { row, tookMs }: { readonly row: Row; readonly tookMs: number },
): RenewalState {
  const expiresAtMs = demandInteger(row, 'expires_ms');
  const remainingMs = expiresAtMs - demandInteger(row, 'now_ms') - tookMs;
  if (dialect.returning || expiresAtMs !== holding.expiresAtMs) holding.moved(expiresAtMs);
  else if (expiresAtMs !== readInteger(row['deadline_ms'])) return { is: 'locked', remainingMs };
  return { is: 'renewed', expiresAtMs, remainingMs };
}
