import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { taskNotFound } from '../core/fail.js';
import type { StoreFailure, TaskNotFound } from '../core/failure.js';
import { type Holding, trustedOf } from '../holding/holding.js';
import type { LeaseSecret } from '../holding/lease-handle.js';
import { readJudged, seekJudged } from '../lease-row/read-holder.js';
import { released, releasing } from '../lease-row/released.js';
import { changed, execute } from '../sql/execute.js';
import { executeOnce, UNASKED } from '../sql/one-row.js';
import { inSavepoint } from '../sql/savepoint.js';
import { TOO_LATE, withTimeout } from '../system/with-timeout.js';
import type { StageChange } from './stage-change.js';
import type { CheckedStageWrite } from './stage-request.js';
import { readStage } from './won.js';

/** How long a look may delay the write, in ms. */
const LOOK_MS = 250;

interface Observing {
  readonly isIllegal: boolean;
  readonly secret: LeaseSecret | undefined;
}

/** What mode `on` would have refused, and the stage that was there. */
interface Would {
  readonly failure: string;
  readonly actual: string | null;
}

/**
 * Writes the stage as the orchestrator did before, whatever the lease, and reports what mode `on` would have refused. A
 * look that fails, or takes long, is none.
 */
export async function writeObserved(
  context: Context,
  request: CheckedStageWrite,
  observing: Observing,
): Promise<Result<StageChange, TaskNotFound | StoreFailure>> {
  const { taskId, expected, next, set, release } = request;
  const looked = await look(context, request, observing);
  if (looked.isErr()) return err(looked.error);
  const would = looked.value;
  const query = context.tasks.write('none', { taskId, expected, next, claim: null }, set);
  const sent = await executeOnce(context.session, UNASKED, query);
  if (sent.isErr()) return err(sent.error);
  if (!changed(context.session, sent.value) && (sent.value.count ?? 0n) === 0n) {
    // A driver that counts changes counts none where the stage is there already.
    const stage = await readStage(context, request, 'write');
    if (stage.isErr()) return err(stage.error);
    if (stage.value !== next) return err(taskNotFound(taskId));
  }
  if (would !== undefined) context.observer.emit('would-lose', { taskId: jsonId(taskId), expected, ...would });
  const { secret } = observing;
  const fencingToken = secret?.guarded ? secret.holding.facts.fencingToken : null;
  context.observer.emit('stage.changed', {
    taskId: jsonId(taskId),
    from: expected,
    to: next,
    fencingToken,
    actor: request.lease?.actor ?? null,
  });
  const released = release && secret?.guarded ? await giveBack(context, secret.holding) : ok(release);
  return released.map((given) => Object.freeze({ taskId, from: expected, to: next, fencingToken, released: given }));
}

/** What `on` would have refused; fails only where the look ended the caller's transaction. */
async function look(
  context: Context,
  request: CheckedStageWrite,
  observing: Observing,
): Promise<Result<Would | undefined, StoreFailure>> {
  const { session, ports } = context;
  const seen = session.inTransaction
    ? await inSavepoint(session, () => compare(context, request, observing))
    : await withTimeout(ports.clock, LOOK_MS, compare(context, request, observing));
  if (seen === TOO_LATE) return ok(undefined);
  return seen.isErr() && !seen.error.transactionEnded ? ok(undefined) : seen;
}

async function compare(
  context: Context,
  request: CheckedStageWrite,
  { isIllegal, secret }: Observing,
): Promise<Result<Would | undefined, StoreFailure>> {
  const { taskId, expected, evenIfHeld } = request;
  const stage = await readStage(context, request, 'look');
  if (stage.isErr()) return stage.error.type === 'store-failure' ? err(stage.error) : ok(undefined);
  const actual = stage.value;
  if (isIllegal) return ok({ failure: 'illegal-transition', actual });
  if (actual !== expected) return ok({ failure: 'lost-race', actual });
  // In a transaction of the caller's a look at a lease may lock it.
  if (context.session.inTransaction) return ok(undefined);
  if (secret?.guarded) {
    const own = await readJudged(context, secret.holding.facts.taskId);
    return own.map((judged) =>
      judged?.holder.claim === secret.holding.facts.claim ? undefined : { failure: 'lease-lost', actual },
    );
  }
  if (evenIfHeld) return ok(undefined);
  const held = await seekJudged(context, taskId);
  return held.map((judged) =>
    judged === null || judged.judgement.verdict === 'dead' ? undefined : { failure: 'lease-busy', actual },
  );
}

/**
 * Gives the lease back behind the write; true if its row is gone by this. One that could not be is released at the end of
 * its handler. Fails only where that ended the caller's transaction, and the stage write with it.
 */
async function giveBack(context: Context, holding: Holding): Promise<Result<boolean, StoreFailure>> {
  const { session, leases } = context;
  const { taskId, claim } = holding.facts;
  const remove = () => execute(session, leases.release({ taskId, claim }), 'repeatable', trustedOf([holding]));
  const deleted = await releasing([holding], async () => {
    const sent = await (session.inTransaction ? inSavepoint(session, remove) : remove());
    if (sent.isOk() && changed(session, sent.value)) released(context, holding);
    return sent;
  });
  if (deleted.isErr()) return deleted.error.transactionEnded ? err(deleted.error) : ok(false);
  return ok(changed(session, deleted.value));
}
