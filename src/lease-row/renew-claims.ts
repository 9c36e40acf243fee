import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { leaseLost } from '../core/fail.js';
import type { LeaseLost, StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import { invariant } from '../core/invariant.js';
import { type Anchor, anchorNow, elapsedMs } from '../holding/anchor.js';
import type { Holding, Trusted } from '../holding/holding.js';
import { execute, type LateQuery, type Reply, type Row } from '../sql/execute.js';
import type { Claims } from '../sql/lease-statements.js';
import { demandInteger, readInteger, readText } from '../sql/rows.js';
import type { Judged } from './judge-holder.js';
import { readJudgedOf } from './read-holder.js';

/** What a renewal found of one lease; what remains is less the time that the reply took, on our own clock. */
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
 * Renews the leases of a list in one statement, outside every transaction of the caller's: an UPDATE, never an upsert,
 * so that it revives nothing. Rows that it did not touch are looked at once more: there means locked, not lost.
 *
 * Each try asks again which of them are still trusted: one whose holder gave it up while the statement was put off
 * must not live on for a TTL. Those are left out of the result.
 */
export async function renewClaims(
  context: Context,
  given: readonly Holding[],
  trusted?: Trusted,
): Promise<Result<readonly Renewal[], StoreFailure>> {
  const replaced = context.survey.fileReplaced();
  if (replaced !== undefined) return err(replaced);
  const startedAt = anchorNow(context.ports.clock);
  let holdings = given;
  const isWanted = stillWanted(context, given);
  const wanted: LateQuery = () => {
    holdings = holdings.filter(isWanted);
    return holdings.length === 0 ? undefined : context.leases.renew(claimsOf(context, holdings));
  };
  const updated = await ask(context, wanted, trusted);
  if (updated.isErr()) return err(updated.error);
  if (holdings.length === 0) return ok([]);
  const claims = claimsOf(context, holdings);
  const reply = context.dialect.returning ? updated : await ask(context, () => context.leases.readTokens(claims));
  if (reply.isErr()) return err(reply.error);

  const rows = new Map(reply.value.rows.map((row) => [readText(row['claim']), row]));
  const states = new Map<string, RenewalState>();
  for (const holding of holdings) {
    const row = rows.get(holding.facts.claim);
    if (row !== undefined)
      states.set(holding.facts.claim, stateOf(context, holding, { row, startedAt, ...reply.value }));
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
    const seen = new Map(read.value.judged.map((judged) => [judged.holder.taskId, judged]));
    const unreadable = new Set(read.value.unreadable.map(({ claim }) => claim));
    for (const { facts } of missing) {
      const state = unreadable.has(facts.claim) ? UNREADABLE : notUpdated(facts.claim, seen.get(facts.taskId), tookMs);
      states.set(facts.claim, state);
    }
  }
  return ok(
    holdings.map((holding) => {
      const state = states.get(holding.facts.claim);
      invariant(state !== undefined, 'a renewal has a state for every lease');
      return { holding, state };
    }),
  );
}

/** Asked again at each try: true of a lease that is still trusted, and was not given up since the question was made. */
export function stillWanted({ renewer }: Context, holdings: readonly Holding[]): (holding: Holding) => boolean {
  const kept = new Set(holdings.filter((holding) => renewer.holdings.has(holding)));
  return (holding) => holding.check() === undefined && (renewer.holdings.has(holding) || !kept.has(holding));
}

/** Why a lease was not asked about in the end: it is lost, or this process gave it up meanwhile. */
export function notWanted(holding: Holding): LeaseLost {
  const { taskId, fencingToken } = holding.facts;
  return holding.check() ?? leaseLost({ taskId, fencingToken, reason: 'gone' });
}

/** A row of ours that is there, and that no one can read. */
const UNREADABLE: RenewalState = Object.freeze({ is: 'locked', remainingMs: 0 });

/** A row that the update did not touch: another session has locked it, or it is not there. */
function notUpdated(claim: string, seen: Judged | undefined, tookMs: number): RenewalState {
  if (seen?.holder.claim !== claim) return { is: 'missing', holder: seen?.holder ?? null };
  return { is: 'locked', remainingMs: (seen.holder.expiresAtMs ?? seen.nowMs) - seen.nowMs - tookMs };
}

/** A reply with the time that it took. */
async function ask(
  { session, ports }: Context,
  query: LateQuery,
  trusted?: Trusted,
): Promise<Result<Reply & { readonly tookMs: number }, StoreFailure>> {
  const askedAt = anchorNow(ports.clock);
  const reply = await execute(session, query, 'repeatable', trusted);
  return reply.map((given) => ({ ...given, tookMs: elapsedMs(ports.clock, askedAt) }));
}

/** The acquisitions of a list of holdings, as the statements take them. */
export function claimsOf({ dialect }: Context, holdings: readonly Holding[]): Claims {
  return {
    tokens: dialect.list(holdings.map(({ facts }) => facts.fencingToken)),
    claims: dialect.list(holdings.map(({ facts }) => facts.claim)),
  };
}

/** By how much two clocks may differ over one statement; less than the margin of a lease's trust. */
const SLACK_MS = 50;

/**
 * A row that the update returned was renewed; one that was read back was if its expiry has moved, or can move no more.
 * One whose expiry was lowered, by an observer who saw the clock set back, may have been left out for all that.
 */
function stateOf(
  { dialect, ports }: Context,
  holding: Holding,
  { row, startedAt, tookMs }: { readonly row: Row; readonly startedAt: Anchor; readonly tookMs: number },
): RenewalState {
  const expiresAtMs = demandInteger(row, 'expires_ms');
  const remainingMs = expiresAtMs - demandInteger(row, 'now_ms') - tookMs;
  const sinceMs = elapsedMs(ports.clock, startedAt) + SLACK_MS;
  const lowered = expiresAtMs < holding.expiresAtMs && remainingMs < holding.facts.ttlMs - sinceMs;
  if (dialect.returning || (expiresAtMs !== holding.expiresAtMs && !lowered)) holding.moved(expiresAtMs);
  else if (expiresAtMs !== readInteger(row['deadline_ms'])) return { is: 'locked', remainingMs };
  return { is: 'renewed', expiresAtMs, remainingMs };
}
