import type { Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { execute, type Row } from '../sql/execute.js';
import type { SeenTask } from '../sql/granted-rows.js';
import { demandId, readInteger, readRows, readText } from '../sql/rows.js';
import type { Judged } from './judge-holder.js';
import { type Look, lookAt } from './looking.js';
import { isHeld, judgeRow, type Unreadable } from './read-holder.js';

/** A task as it was found, with its holder; `null` if it is free. */
export interface FoundTask extends SeenTask {
  readonly judged: Judged | null | Unreadable;
}

/** Reads a task with its holder; `null` if there is none. After a write of ours, as of the latest commit of both. */
export async function findTask(
  context: Context,
  { taskId, stage }: { readonly taskId: IdValue; readonly stage: string | null | undefined },
  after: 'look' | 'write',
): Promise<Result<FoundTask | null, StoreFailure>> {
  const { find, findLatest, findLatestHolder } = context.acquisitions;
  const { session, latest } = await lookAfter(context, [taskId], after);
  const read = !latest ? find : after === 'write' ? findLatest : findLatestHolder;
  const answer = await execute(session, read({ taskId }));
  return answer
    .andThen((given) => readRows(session, given, (row) => foundTask(context, row)))
    .map((found) => found.find((task) => task.stage === stage) ?? found[0] ?? null);
}

/** Reads the tasks of a list with their holders, by the ids as they are given; those that are not there are left out. */
export async function findTasks(
  context: Context,
  taskIds: readonly IdValue[],
  after: 'look' | 'write',
): Promise<Result<ReadonlyMap<IdValue, FoundTask>, StoreFailure>> {
  const { findMany, findManyLatest, findManyLatestHolders } = context.acquisitions;
  const { session, latest } = await lookAfter(context, taskIds, after);
  const read = !latest ? findMany : after === 'write' ? findManyLatest : findManyLatestHolders;
  const answer = await execute(session, read(taskIds));
  return answer.andThen(({ rows }) =>
    readRows(session, { rows }, (row) => seenTask(context, row)).map((tasks) => {
      const byId = new Map<IdValue, FoundTask>();
      for (const [at, row] of rows.entries()) {
        const [position, task] = [readInteger(row['position']), tasks[at]];
        const taskId = position === null ? undefined : taskIds[position - 1];
        if (task === undefined || taskId === undefined || byId.has(taskId)) continue;
        // A holder that no one can read stops no other request.
        const judged = readRows(session, { rows: [row].filter(isHeld) }, judgeRow(context));
        byId.set(taskId, { ...task, judged: judged.isOk() ? (judged.value[0] ?? null) : unreadable(task, row) });
      }
      return byId;
    }),
  );
}

/** Who has written looks in the transaction, where it alone can see that; whoever has not, wherever it locks nothing. */
function lookAfter(context: Context, taskIds: readonly IdValue[], after: 'look' | 'write'): Look | Promise<Look> {
  const { session } = context;
  return after === 'write' ? { session, latest: session.inTransaction } : lookAt(context, taskIds);
}

const unreadable = ({ taskId }: SeenTask, row: Row): Unreadable => ({ taskId, claim: readText(row['claim']) });

function foundTask(context: Context, row: Row): FoundTask {
  return { ...seenTask(context, row), judged: isHeld(row) ? judgeRow(context)(row) : null };
}

function seenTask({ settings }: Context, row: Row): SeenTask {
  return { taskId: demandId(settings.taskIdType, row, 'own_id'), stage: readText(row['own_stage']) };
}
