import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { ofUnknownOutcome } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import { changed, execute, type Reply } from '../sql/execute.js';
import type { Judged } from './judge-holder.js';
import { readJudged } from './read-holder.js';

/** What became of a dead holder: its row is gone by this call, is another's work by now, or is locked by somebody. */
export type Reclaiming = 'reclaimed' | 'kept' | 'locked';

/**
 * Deletes exactly the acquisition that was judged dead: its claim and the expiry that was judged. Who has its row locked
 * is not waited for.
 *
 * Two observers can never both reclaim it, and a renewal that lands in between wins. `reclaimed` if this call deleted it;
 * so too where a reply was lost and the row is seen gone: another observer may then have deleted it instead.
 */
export async function reclaim(
  context: Context,
  { holder, judgement, expiry, nowMs }: Judged,
): Promise<Result<Reclaiming, StoreFailure>> {
  const { taskId, claim } = holder;
  if (judgement.verdict !== 'dead') return ok('kept');
  const deleted = await execute(context.session, context.leases.reclaim({ taskId, claim, expiry }));
  const gone = await becameOf(context, { holder, expiry }, deleted);
  if (gone.isErr() || gone.value !== 'reclaimed') return gone;
  context.sightings.forget(claim);
  context.session.transaction?.written.add(taskId);
  const { verdict, reason } = judgement;
  const facts = { ...goneFacts(holder, nowMs), reason };
  context.observer.emit('lease.reclaimed', { ...facts, verdict });
  if (reason === 'over-budget') context.observer.emit('lease.forced', facts);
  return gone;
}

/** The row that is gone, for people. */
function goneFacts({ taskId, fencingToken, actor, stage, runId, pid, host, acquiredAtMs }: Holder, nowMs: number) {
  return {
    taskId: jsonId(taskId),
    fencingToken,
    actor,
    stage,
    runId: runId === null ? null : jsonId(runId),
    pid,
    host,
    ageMs: acquiredAtMs === null ? null : nowMs - acquiredAtMs,
  };
}

/** What a DELETE did; where it changed nothing, or its reply was lost, the row tells. */
async function becameOf(
  context: Context,
  { holder: { taskId, claim }, expiry }: Pick<Judged, 'holder' | 'expiry'>,
  deleted: Result<Reply, StoreFailure>,
): Promise<Result<Reclaiming, StoreFailure>> {
  const { session, dialect } = context;
  if (deleted.isOk() && changed(session, deleted.value)) return ok('reclaimed');
  const isLost = deleted.isErr() ? deleted.error.outcome === 'unknown' : deleted.value.repeated;
  if (!isLost && (deleted.isErr() || dialect.oneConnection)) return deleted.map(() => 'kept');
  if (isLost && session.inTransaction) return deleted.map(() => 'kept');
  const read = await readJudged(context, taskId);
  if (read.isErr()) return err(deleted.isErr() ? deleted.error : isLost ? ofUnknownOutcome(read.error) : read.error);
  const isThere = read.value?.holder.claim === claim;
  if (!isThere && isLost) return ok('reclaimed');
  const isSame = isThere && String(read.value?.expiry) === String(expiry);
  return deleted.map(() => (isSame ? 'locked' : 'kept'));
}
