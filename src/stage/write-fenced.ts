import { err, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { storeFailure } from '../core/fail.js';
import type { LeaseLost, LostRace, StoreFailure, TaskNotFound } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import { type Holding, trustedOf } from '../holding/holding.js';
import { readJudged } from '../lease-row/read-holder.js';
import { released, releasing } from '../lease-row/released.js';
import { rowMissing } from '../lease-row/row-missing.js';
import { changed, execute, type Reply } from '../sql/execute.js';
import { executeOnce, executePairOnce, tasksKeyed } from '../sql/one-row.js';
import { readText } from '../sql/rows.js';
import { inSavepoint } from '../sql/savepoint.js';
import type { Session } from '../sql/session.js';
import type { StageChange } from './stage-change.js';
import type { CheckedStageWrite } from './stage-request.js';
import { raceLost, readStage, won } from './won.js';

type Lost = LostRace<string | null> | LeaseLost | TaskNotFound | StoreFailure;

/**
 * Writes the stage while the row of the lease is there. What an aborted owner may still write, the database
 * decides: an expired owner whom no one superseded may finish.
 */
export function writeFenced(
  context: Context,
  request: CheckedStageWrite,
  holding: Holding,
): Promise<Result<StageChange, Lost>> {
  // The id as the row spells it: that is the key of the lease.
  const { taskId } = holding.facts;
  const written = (): Promise<Result<StageChange, Lost>> => write(context, { ...request, taskId }, holding);
  return request.release ? releasing([holding], written) : written();
}

async function write(
  context: Context,
  request: CheckedStageWrite,
  holding: Holding,
): Promise<Result<StageChange, Lost>> {
  const sent = await (request.release ? sendWithRelease(context, request, holding) : send(context, request, holding));
  const { fencingToken } = holding.facts;
  const win = (row: Reply['rows'][number] | undefined): Result<StageChange, LostRace<string | null>> => {
    const told = won(context, request, row, { fencingToken, released: request.release });
    if (request.release) released(context, holding);
    return told;
  };
  if (sent.isErr()) {
    const mayLook = sent.error.outcome === 'unknown' && !context.session.inTransaction;
    const seen = mayLook ? await look(context, request, holding) : sent;
    if (seen.isOk() && isThere(context, request, { ...seen.value, repeated: true })) return win(undefined);
    if (mayLook && request.release) holding.note('deleted-uncommitted');
    return err(sent.error);
  }
  if (changed(context.session, sent.value)) return win(sent.value.rows[0]);
  const seen = await look(context, request, holding);
  if (seen.isErr()) return err(seen.error);
  if (isThere(context, request, { ...seen.value, repeated: sent.value.repeated })) return win(undefined);
  const { ours, holder, stage } = seen.value;
  if (ours) return err(raceLost(context, request, stage));
  if (request.release) holding.note('release-ended');
  if (!sent.value.repeated) return err(rowMissing(context, holding, holder));
  // The try whose reply was lost may have been applied before the lease went: that is no loss, and no win.
  if (request.release) holding.note('deleted-uncommitted');
  else rowMissing(context, holding, holder);
  return err(storeFailure(UNSETTLED));
}

const UNSETTLED = Object.freeze({
  kind: 'connection',
  retryable: false,
  outcome: 'unknown',
  cause: 'the reply to the stage write was lost, and the lease was gone before it could be settled',
} as const);

function parametersOf({ taskId, expected, next }: CheckedStageWrite, { facts: { claim } }: Holding) {
  return { taskId, expected, next, claim };
}

function send(context: Context, request: CheckedStageWrite, holding: Holding): Promise<Result<Reply, StoreFailure>> {
  const { session, tasks } = context;
  const query = tasks.write('fenced', parametersOf(request, holding), request.set);
  return executeOnce(session, tasksKeyed(context), query, 'repeatable', trustedOf([holding]));
}

/** One commit for both: a fused statement, or a transaction, or part of one, whose first statement is the write. */
function sendWithRelease(
  context: Context,
  request: CheckedStageWrite,
  holding: Holding,
): Promise<Result<Reply, StoreFailure>> {
  const { session, tasks, leases, dialect } = context;
  const parameters = parametersOf(request, holding);
  const keyed = tasksKeyed(context);
  if (dialect.fusedRelease) return executeOnce(session, keyed, tasks.writeAndRelease(parameters, request.set));
  const both = async (inside: Session): Promise<Result<Reply, StoreFailure>> => {
    const written = await executeOnce(inside, keyed, tasks.write('fenced', parameters, request.set), 'once');
    if (written.isErr()) return written;
    if (!changed(inside, written.value)) {
      // A driver that counts changes counts none where the stage stays what it is: only such a write is looked at.
      if (request.expected !== request.next) return written;
      const read = await execute(inside, tasks.readLatestStage(parameters), 'once');
      if (read.isErr()) return read;
      const [row] = read.value.rows;
      if (row === undefined || readText(row['stage']) !== request.next) return written;
    }
    const deleted = await execute(inside, leases.release(parameters), 'once');
    return deleted.map((reply) => (changed(inside, reply) ? { ...written.value, count: reply.count } : written.value));
  };
  if (session.inTransaction) return inSavepoint(session, () => both(session));
  const pair = { query: tasks.write('fenced', parameters, request.set), whereChanged: leases.release(parameters) };
  return executePairOnce(session, keyed, pair, { otherwise: both, trusted: trustedOf([holding]) });
}

/** What is there after a write that changed nothing, or whose reply did not come. */
interface Seen {
  readonly holder: Holder | null;
  /** True if the lease is still there. */
  readonly ours: boolean;
  readonly stage: string | null;
}

async function look(
  context: Context,
  request: CheckedStageWrite,
  holding: Holding,
): Promise<Result<Seen, TaskNotFound | StoreFailure>> {
  const read = await readJudged(context, request.taskId);
  if (read.isErr()) return err(read.error);
  const holder = read.value?.holder ?? null;
  const stage = await readStage(context, request, 'write');
  return stage.map((value) => ({ holder, ours: holder?.claim === holding.facts.claim, stage: value }));
}

/**
 * True if the write happened all the same: a try whose reply was lost was applied, for no one else could write
 * while the lease was there; or the stage was there already, where a driver counts changes and not matches.
 */
function isThere(
  { dialect }: Context,
  { expected, next, release }: CheckedStageWrite,
  { holder, ours, stage, repeated }: Seen & { readonly repeated: boolean },
): boolean {
  if (stage !== next) return false;
  if (repeated) return ours ? !release : release && holder === null;
  return ours && expected === next && !dialect.returning;
}
