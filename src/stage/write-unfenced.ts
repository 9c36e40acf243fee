import { err, ok, type Result } from 'neverthrow';
import type { Context, Mode } from '../context.js';
import { jsonId } from '../core/event.js';
import { leaseBusy, leaseContended, leaseLocked, taskNotFound } from '../core/fail.js';
import type { LeaseBusy, LostRace, StoreFailure, TaskNotFound } from '../core/failure.js';
import { lookAt, lookingBriefly } from '../lease-row/looking.js';
import { seekJudged } from '../lease-row/read-holder.js';
import { reclaim } from '../lease-row/reclaim.js';
import { changed } from '../sql/execute.js';
import { executeOnce, tasksKeyed, UNASKED } from '../sql/one-row.js';
import type { StageGuard } from '../sql/task-statements.js';
import { isNoId, saysNoId } from '../survey/no-such-id.js';
import { suited } from '../survey/suited.js';
import { fitting } from './fitting.js';
import type { StageChange } from './stage-change.js';
import type { CheckedStageWrite } from './stage-request.js';
import { raceLost, readStage, won } from './won.js';

type Lost = LostRace<string | null> | LeaseBusy | TaskNotFound | StoreFailure;

const UNLEASED = Object.freeze({ fencingToken: null, released: false });
/** Once, and once more after a dead holder was reclaimed or a live one had gone. */
const MAX_TRIES = 3;

/** Writes the stage without a lease: no one may hold the task, unless the caller writes even then. */
export async function writeUnfenced(
  context: Context,
  request: CheckedStageWrite,
  regime: Mode,
  storeFailed: boolean,
): Promise<Result<StageChange, Lost>> {
  const write = () => writeUnder(context, request, regime);
  if (regime === 'off') return write();
  const guarded = await suited(context, storeFailed ? ['tasks', 'lease'] : ['tasks'], () =>
    fitting(context, request, write),
  );
  if (!storeFailed || !isOfLeases(context, guarded)) return guarded;
  const plain = { ...request, evenIfHeld: true };
  return suited(context, ['tasks'], () => fitting(context, plain, () => writeUnder(context, plain, regime)));
}

/**
 * True of trouble that does not pass and that may be the lease table's: under a lease that was granted although the store
 * failed, the stage is then written by compare-and-swap alone. Passing trouble may hide an owner, and in a caller's
 * transaction nothing goes on after a failure.
 */
function isOfLeases({ session }: Context, written: Result<StageChange, Lost>): boolean {
  if (session.inTransaction || written.isOk() || written.error.type !== 'store-failure') return false;
  return written.error.outcome === 'not-applied' && !written.error.retryable;
}

async function writeUnder(
  context: Context,
  request: CheckedStageWrite,
  regime: Mode,
): Promise<Result<StageChange, Lost>> {
  const { taskId, expected, next, set } = request;
  if (regime !== 'off' && isNoId(context, taskId)) return err(taskNotFound(taskId));
  const guard: StageGuard = regime === 'off' ? 'none' : request.evenIfHeld ? 'expected' : 'free';
  const refused = guard === 'free' ? await refusedUnlocked(context, request, regime === 'on') : ok(undefined);
  if (refused.isErr()) return err(refused.error);
  for (let tries = 1; ; tries += 1) {
    const query = context.tasks.write(guard, { taskId, expected, next, claim: null }, set);
    const keyed = regime === 'off' ? UNASKED : tasksKeyed(context);
    const sent = await executeOnce(context.session, keyed, query, guard === 'none' ? 'repeatable' : 'once');
    if (sent.isErr()) return err(saysNoId(context, sent.error) ? taskNotFound(taskId) : sent.error);
    const lease = { ...UNLEASED, released: request.release };
    if (changed(context.session, sent.value) || (guard === 'none' && (sent.value.count ?? 0n) > 0n))
      return won(context, request, sent.value.rows[0], lease);

    const stage = await readStage(context, request, 'write');
    if (stage.isErr()) return err(stage.error);
    // Some drivers count changes, not matches: a stage that is there already was written all the same.
    const there = stage.value === next && (guard === 'none' || (expected === next && !context.dialect.returning));
    const isHeld = guard === 'free' && stage.value === expected;
    const free = isHeld ? await makeFree(context, request, regime === 'on') : ok('was-free' as const);
    if (free.isErr()) return err(free.error);
    if (there && free.value === 'was-free') return won(context, request, undefined, lease);
    if (!isHeld) return err(raceLost(context, request, stage.value));
    if (tries < MAX_TRIES) continue;
    return err(free.value === 'was-free' ? raceLost(context, request, stage.value) : leaseContended(taskId));
  }
}

/**
 * In a caller's transaction whose UPDATE would leave locks where it changes nothing: looks first, elsewhere, and answers
 * why it is not sent.
 */
async function refusedUnlocked(
  context: Context,
  request: CheckedStageWrite,
  mayReclaim: boolean,
): Promise<Result<void, Lost>> {
  const { session, dialect } = context;
  if (!session.inTransaction || dialect.transactionLevel === undefined) return ok(undefined);
  const brief = lookingBriefly(context);
  if ((await lookAt(brief, [request.taskId])).session === brief.session) return ok(undefined);
  const held = await seekJudged(brief, request.taskId);
  if (held.isErr() || held.value === null) return ok(undefined);
  const stage = await readStage(context, request, 'look');
  if (stage.isErr()) return err(stage.error);
  if (stage.value !== request.expected) return err(raceLost(context, request, stage.value));
  return (await makeFree(context, request, mayReclaim)).map(() => undefined);
}

/** Looks who holds the task; a dead holder is reclaimed. */
async function makeFree(
  context: Context,
  { taskId, lease }: CheckedStageWrite,
  mayReclaim: boolean,
): Promise<Result<'was-free' | 'made-free', LeaseBusy | StoreFailure>> {
  const read = await seekJudged(context, taskId);
  if (read.isErr()) return err(read.error);
  if (read.value === null) return ok('was-free');
  const { holder, judgement } = read.value;
  if (judgement.verdict !== 'dead' || !mayReclaim) {
    context.observer.emit('action.deferred', {
      taskId: jsonId(taskId),
      reason: 'lease-busy',
      actor: lease?.actor ?? null,
      holder: { actor: holder.actor, fencingToken: holder.fencingToken },
    });
    return err(leaseBusy(taskId, holder, judgement));
  }
  const reclaimed = await reclaim(context, read.value);
  if (reclaimed.isErr()) return err(reclaimed.error);
  if (reclaimed.value !== 'locked') return ok('made-free');
  context.observer.emit('action.deferred', {
    taskId: jsonId(taskId),
    reason: 'lease-busy',
    actor: lease?.actor ?? null,
    holder: { actor: holder.actor, fencingToken: holder.fencingToken },
  });
  return err(leaseLocked(taskId, holder));
}
