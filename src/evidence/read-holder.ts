import type { Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { type Answer, execute } from '../sql/execute.js';
import { demandInteger, readHolder, readRows } from '../sql/rows.js';
import { type Judged, judgeHolder } from './judge-holder.js';

function judgeRows(context: Context, answer: Answer): Result<readonly Judged[], StoreFailure> {
  const { taskIdType, runIdType } = context.settings;
  return readRows(context.session, answer, (row) =>
    judgeHolder(context, {
      holder: readHolder(row, taskIdType, runIdType),
      nowMs: demandInteger(row, 'now_ms'),
      expiry: row['expires_ms'],
    }),
  );
}

/** Reads and judges the holder of a task; `null` if it is free. */
export async function readJudged(context: Context, taskId: IdValue): Promise<Result<Judged | null, StoreFailure>> {
  const { session, leases } = context;
  const read = session.inTransaction ? leases.readLatestHolder : leases.readHolder;
  const answer = await execute(session, read({ taskId }));
  return answer.andThen((given) => judgeRows(context, given)).map(([judged]) => judged ?? null);
}

/** Reads and judges the holders of many tasks; free ones are left out. */
export async function readJudgedOf(
  context: Context,
  taskIds: readonly IdValue[],
): Promise<Result<readonly Judged[], StoreFailure>> {
  const { session, leases } = context;
  const read = session.inTransaction ? leases.readLatestHolders : leases.readHolders;
  const answer = await execute(session, read({ list: context.dialect.list(taskIds) }));
  return answer.andThen((given) => judgeRows(context, given));
}

/** Reads and judges all holders, up to a limit, oldest acquisition first. */
export async function readAllJudged(context: Context, limit: number): Promise<Result<readonly Judged[], StoreFailure>> {
  const answer = await execute(context.session, context.leases.readAll({ limit }));
  return answer.andThen((given) => judgeRows(context, given));
}
