import { err, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { LeaseLost, LostRace, StoreFailure, TaskNotFound } from '../core/failure.js';
import { readJudged } from '../evidence/read-holder.js';
import { released } from '../evidence/released.js';
import { rowMissing } from '../evidence/row-missing.js';
import type { Holding } from '../runtime/holding.js';
import { type Answer, changed, execute, transact } from '../sql/execute.js';
import type { Session } from '../sql/session.js';
import type { CheckedStageWrite } from './stage-request.js';
import type { StageChange } from './update-stage-cas.js';
import { raceLost, readStage, won } from './won.js';

type Lost = LostRace<string | null> | LeaseLost | TaskNotFound | StoreFailure;

/**
 * Writes the stage while the row of the lease is there. What an aborted owner may still write, the database
 * decides: an expired owner whom nobody superseded may finish.
 */
export async function writeFenced(
  context: Context,
  request: CheckedStageWrite,
  holding: Holding,
): Promise<Result<StageChange, Lost>> {
  const sent = await (request.release ? sendWithRelease(context, request, holding) : send(context, request, holding));
  if (sent.isErr()) return err(sent.error);
  const { fencingToken } = holding.facts;
  const win = (row: Answer['rows'][number] | undefined): Result<StageChange, LostRace<string | null>> => {
    const told = won(context, request, row, { fencingToken, released: request.release });
    if (request.release) released(context, holding);
    return told;
  };
  if (changed(context.session, sent.value)) return win(sent.value.rows[0]);
  return explain(context, request, holding, sent.value, win);
}

function parametersOf({ taskId, expected, next }: CheckedStageWrite, { facts: { claim } }: Holding) {
  return { taskId, expected, next, claim };
}

function send(
  { session, tasks }: Context,
  request: CheckedStageWrite,
  holding: Holding,
): Promise<Result<Answer, StoreFailure>> {
  return execute(session, tasks.write('fenced', parametersOf(request, holding), request.set));
}

/** One commit for both: a fused statement, or a transaction whose first statement is the write. */
function sendWithRelease(
  context: Context,
  request: CheckedStageWrite,
  holding: Holding,
): Promise<Result<Answer, StoreFailure>> {
  const { session, tasks, leases, dialect } = context;
  const parameters = parametersOf(request, holding);
  if (dialect.fusedRelease) return execute(session, tasks.writeAndRelease(parameters, request.set));
  const both = async (inside: Session): Promise<Result<Answer, StoreFailure>> => {
    const written = await execute(inside, tasks.write('fenced', parameters, request.set), 'once');
    if (written.isErr() || !changed(inside, written.value)) return written;
    const deleted = await execute(inside, leases.release(parameters), 'once');
    return deleted.isErr() ? err(deleted.error) : written;
  };
  return session.inTransaction ? both(session) : transact(session, both);
}

/** Nothing was changed: reads why, and says so. */
async function explain(
  context: Context,
  request: CheckedStageWrite,
  holding: Holding,
  { repeated }: Answer,
  win: (row: undefined) => Result<StageChange, LostRace<string | null>>,
): Promise<Result<StageChange, Lost>> {
  const read = await readJudged(context, request.taskId);
  if (read.isErr()) return err(read.error);
  const holder = read.value?.holder ?? null;
  const stage = await readStage(context, request);
  if (stage.isErr()) return err(stage.error);
  const there = stage.value === request.next;
  const ours = holder?.claim === holding.facts.claim;
  // A try whose reply was lost may have been applied; and a write that changes nothing counts nothing on some drivers.
  if (
    there &&
    (ours ? repeated || request.expected === request.next : repeated && request.release && holder === null)
  ) {
    return win(undefined);
  }
  if (!ours) return err(rowMissing(context, holding, holder));
  return err(raceLost(context, request, stage.value));
}
