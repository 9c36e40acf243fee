import { ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { execute } from '../sql/execute.js';
import { readId } from '../sql/rows.js';
import { isNoId, saysNoId } from '../survey/no-such-id.js';

/** The id of a task as its row spells it; as it is given where there is no such row. */
export async function ownSpelling(context: Context, taskId: IdValue): Promise<Result<IdValue, StoreFailure>> {
  const { session, sought, settings } = context;
  if (settings.taskIdType !== 'text' || isNoId(context, taskId)) return ok(taskId);
  const read = await execute(session, sought.spelling({ taskId }));
  if (read.isErr() && saysNoId(context, read.error) && !session.inTransaction) return ok(taskId);
  return read.map(({ rows: [row] }) => readId('text', row?.['own_id']) ?? taskId);
}
