import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { ofUnknownOutcome } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { marginMs } from '../core/timing.js';
import { type Anchor, anchorNow, elapsedMs } from '../holding/anchor.js';
import { execute, type LateQuery } from '../sql/execute.js';
import { demandInteger, readInteger, readText } from '../sql/rows.js';

/** A row that is to be granted, with the instants from which the hold and its trust count. */
export interface Fresh<Row> {
  readonly row: Row;
  readonly acquired: Anchor;
  readonly verified: Anchor;
}

interface Expiring {
  readonly claim: string;
  readonly fencingToken: number;
  readonly expiresAtMs: number;
}

/** A process that is as slow as this at each try is granted nothing. */
const MAX_TRIES = 3;

/**
 * Renews a row that has stood for a while before it could be granted, as after an INSERT that waited for somebody's
 * uncommitted row: its handler is to begin with a whole TTL. `undefined` if it is not there any more, or never in time.
 */
export async function freshen<Row extends Expiring>(
  context: Context,
  row: Row,
  { ttlMs, since }: { readonly ttlMs: number; readonly since: Anchor },
): Promise<Result<Fresh<Row> | undefined, StoreFailure>> {
  const { clock } = context.ports;
  let fresh: Fresh<Row> = { row, acquired: since, verified: since };
  for (let tries = 0; elapsedMs(clock, fresh.verified) > marginMs(ttlMs); tries += 1) {
    if (tries === MAX_TRIES) return ok(undefined);
    const renewed = await renew(context, row);
    if (renewed.isErr()) return err(ofUnknownOutcome(renewed.error));
    if (renewed.value === undefined) return ok(undefined);
    const { expiresAtMs, verified } = renewed.value;
    fresh = { row: { ...row, expiresAtMs }, acquired: since, verified };
  }
  return ok(fresh);
}

async function renew(
  { session, leases, dialect, ports: { clock } }: Context,
  { fencingToken, claim, expiresAtMs }: Expiring,
): Promise<Result<{ readonly expiresAtMs: number; readonly verified: Anchor } | undefined, StoreFailure>> {
  const tokens = dialect.list([fencingToken]);
  let verified = anchorNow(clock);
  const query: LateQuery = () => {
    verified = anchorNow(clock);
    return leases.renew({ tokens, claims: dialect.list([claim]) });
  };
  const updated = await execute(session, query);
  if (updated.isErr() || dialect.returning)
    return updated.map(({ rows: [row] }) => row && { expiresAtMs: demandInteger(row, 'expires_ms'), verified });
  const read = await execute(session, leases.readTokens({ tokens }));
  return read.map(({ rows }) => {
    const own = rows.find((row) => readText(row['claim']) === claim);
    if (own === undefined) return undefined;
    const moved = demandInteger(own, 'expires_ms');
    const isBound = moved === readInteger(own['deadline_ms']);
    return moved !== expiresAtMs || isBound ? { expiresAtMs: moved, verified } : undefined;
  });
}
