import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { type Anchor, anchorNow } from '../holding/anchor.js';
import { type Holding, trustedOf } from '../holding/holding.js';
import { renewClaims } from '../lease-row/renew-claims.js';
import { rowMissing } from '../lease-row/row-missing.js';

/** Claims in one renewal statement: 5,000 leases take ten statements a tick. */
const CHUNK = 500;

/** Renews leases in chunks; returns those whose row was locked, which are neither renewed nor lost. */
export async function renewAll(context: Context, holdings: readonly Holding[]): Promise<readonly Holding[]> {
  const due = holdings.filter((holding) => holding.check() === undefined);
  const locked: Holding[] = [];
  for (let at = 0; at < due.length; at += CHUNK) {
    const chunk = due.slice(at, at + CHUNK).filter((holding) => context.renewer.holdings.has(holding));
    if (chunk.length === 0) continue;
    locked.push(...(await renewChunk(context, chunk)));
  }
  return locked;
}

async function renewChunk(context: Context, chunk: readonly Holding[]): Promise<readonly Holding[]> {
  const beganLate = reportIfLate(context, chunk, 'A renewal is sent more than an interval late.');
  const anchor = anchorNow(context.ports.clock);
  const renewed = await renewClaims(context, chunk, trustedOf(chunk));
  if (renewed.isErr()) {
    const { message } = renewed.error;
    context.observer.emit('lease.renewal-failed', { leases: chunk.length, lateMs: 0, message });
    return [];
  }
  if (!beganLate) reportIfLate(context, chunk, 'The reply to a renewal came more than an interval late.');
  const locked: Holding[] = [];
  for (const { holding, state } of renewed.value) {
    if (!context.renewer.holdings.has(holding)) continue;
    if (state.is === 'locked') locked.push(holding);
    else if (state.is === 'renewed') verified(context, holding, { anchor, expiresAtMs: state.expiresAtMs });
    else rowMissing(context, holding, state.holder);
  }
  return locked;
}

function verified(
  { observer }: Context,
  holding: Holding,
  { anchor, expiresAtMs }: { readonly anchor: Anchor; readonly expiresAtMs: number },
): void {
  const { taskId, fencingToken, actor } = holding.facts;
  holding.committed();
  holding.verify(anchor);
  observer.emit('lease.renewed', { taskId: jsonId(taskId), fencingToken, actor, expiresAtMs });
}

function reportIfLate({ observer, settings }: Context, chunk: readonly Holding[], message: string): boolean {
  const lateMs = Math.round(
    Math.max(...chunk.map((holding) => holding.unverifiedForMs())) - 2 * settings.timing.renewEveryMs,
  );
  if (lateMs <= 0) return false;
  observer.emit('lease.renewal-failed', { leases: chunk.length, lateMs, message });
  return true;
}
