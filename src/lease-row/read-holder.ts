import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { execute, type Row } from '../sql/execute.js';
import { demandInteger, partRows, readHolder, readId, readInteger, readRows, readText } from '../sql/rows.js';
import { isNoId, saysNoId } from '../survey/no-such-id.js';
import { type Judged, judgeHolder } from './judge-holder.js';
import { lookAt } from './looking.js';

/** Judges the holder that a row is of. */
export const judgeRow =
  (context: Context) =>
  (row: Row): Judged =>
    judgeHolder(context, {
      holder: readHolder(row, context.settings.taskIdType, context.settings.runIdType),
      nowMs: demandInteger(row, 'now_ms'),
      expiry: row['expires_ms'],
    });

/** A row of a lease that no one can read: whoever holds the task, it is not free. */
export interface Unreadable {
  readonly taskId: IdValue | null;
  readonly claim: string | null;
}

/** Holders that were read and judged one by one, and the rows that could not be read, which are reported. */
export interface JudgedRows {
  readonly judged: readonly Judged[];
  readonly unreadable: readonly Unreadable[];
}

function judgeEach(context: Context, rows: readonly Row[]): JudgedRows {
  const { read, unreadable } = partRows(context.session, rows, judgeRow(context));
  const { taskIdType } = context.settings;
  return {
    judged: read,
    unreadable: unreadable.map((row) => ({
      taskId: readId(taskIdType, row['task_id']),
      claim: readText(row['claim']),
    })),
  };
}

/** Reads and judges the holder of a task, whose id is as its row spells it; `null` if it is free. */
export async function readJudged(context: Context, taskId: IdValue): Promise<Result<Judged | null, StoreFailure>> {
  const { leases } = context;
  const { session, latest } = await lookAt(context, [taskId]);
  const read = latest ? leases.readLatestHolder : leases.readHolder;
  const answer = await execute(session, read({ taskId }));
  return answer.andThen((given) => readRows(session, given, judgeRow(context))).map(([judged]) => judged ?? null);
}

/** Reads and judges the holders of many tasks, whose ids are as their rows spell them; free ones are left out. */
export async function readJudgedOf(
  context: Context,
  taskIds: readonly IdValue[],
): Promise<Result<JudgedRows, StoreFailure>> {
  const { leases } = context;
  const { session, latest } = await lookAt(context, taskIds);
  const read = latest ? leases.readLatestHolders : leases.readHolders;
  const answer = await execute(session, read({ list: context.dialect.list(taskIds) }));
  return answer.map(({ rows }) => judgeEach(context, rows));
}

/** Leases in one statement. */
const PAGE = 1_000;

/** Reads and judges all holders page by page, oldest acquisition first; each page goes on after the last token. */
export async function* pagesOfJudged(context: Context): AsyncGenerator<Result<JudgedRows, StoreFailure>, void> {
  // As the driver gave it: also a token that cannot be read has its place in the order.
  let after: unknown = -1;
  for (;;) {
    const reply = await execute(context.session, context.leases.readPage({ after, limit: PAGE }));
    if (reply.isErr()) {
      yield err(reply.error);
      return;
    }
    const { rows } = reply.value;
    if (rows.length > 0) yield ok(judgeEach(context, rows));
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.['fencing_token'];
  }
}

/** Reads and judges the holder of a task by an id that the caller gives; `null` if it is free. */
export async function seekJudged(context: Context, taskId: IdValue): Promise<Result<Judged | null, StoreFailure>> {
  const { sought } = context;
  if (isNoId(context, taskId)) return readJudged(context, taskId);
  const { session, latest } = await lookAt(context, [taskId]);
  const answer = await execute(session, (latest ? sought.latestHolder : sought.holder)({ taskId }));
  if (answer.isErr() && saysNoId(context, answer.error) && !session.inTransaction) return readJudged(context, taskId);
  return answer
    .andThen(({ rows }) => readRows(session, { rows: rows.filter(isHeld).slice(0, 1) }, judgeRow(context)))
    .map(([judged]) => judged ?? null);
}

/** Holders by the ids that someone gave. */
export interface SoughtRows {
  readonly byId: ReadonlyMap<IdValue, Judged | 'unreadable'>;
  /** True if a row cannot be read so much that no one knows whose lease it is. */
  readonly unplaced: boolean;
}

/** Reads and judges the holders of many tasks, by their ids as they are given; free ones are left out. */
export async function seekJudgedOf(
  context: Context,
  taskIds: readonly IdValue[],
): Promise<Result<SoughtRows, StoreFailure>> {
  const { sought, settings } = context;
  const { session, latest } = await lookAt(context, taskIds);
  const read = latest ? sought.latestHolders : sought.holders;
  const ids = taskIds.filter((taskId) => !isNoId(context, taskId));
  const reply = await execute(session, read(ids));
  return reply.map(({ rows }) => {
    const byId = new Map<IdValue, Judged | 'unreadable'>();
    let unplaced = false;
    for (const row of rows.filter(isHeld)) {
      const position = readInteger(row['position']);
      const taskId = position === null ? readId(settings.taskIdType, row['task_id']) : ids[position - 1];
      if (taskId === null || taskId === undefined) unplaced = true;
      else if (!byId.has(taskId)) byId.set(taskId, judgeEach(context, [row]).judged[0] ?? 'unreadable');
    }
    return { byId, unplaced };
  });
}

/** True of a row that a holder was joined to. */
export function isHeld(row: Row): boolean {
  return row['fencing_token'] !== null && row['fencing_token'] !== undefined;
}
