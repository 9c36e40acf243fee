import { err, ok, type Result } from 'neverthrow';
import type { Context, Settings } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import { type Finding, finding } from '../core/finding.js';
import { inspectValue } from '../core/inspect-value.js';
import { execute } from '../sql/execute.js';
import { readId } from '../sql/rows.js';
import { strayStatement } from '../sql/stray-statements.js';
import { tableName } from '../sql/tables.js';

/** How many ids a finding names. */
const NAMED = 10;

type OwnTable = Settings['leaseTable'];

/** Finds leases and effects of tasks that are not there: the row of a task may spell its id in another way, or be gone. */
export async function strayRows(context: Context): Promise<Result<readonly Finding[], StoreFailure>> {
  const { leaseTable, effectTable } = context.settings;
  const findings: Finding[] = [];
  for (const look of [() => strayIn(context, leaseTable, 'lease'), () => strayIn(context, effectTable, 'effects')]) {
    const found = await look();
    if (found.isErr()) return err(found.error);
    findings.push(...found.value);
  }
  return ok(findings);
}

async function strayIn(
  { session, dialect, settings }: Context,
  table: OwnTable | undefined,
  part: 'lease' | 'effects',
): Promise<Result<readonly Finding[], StoreFailure>> {
  if (table === undefined) return ok([]);
  const { tasks, idColumn: id, stageColumn: stage, taskIdType } = settings;
  const names = { tasks, id, stage, taskIdType };
  const strays = strayStatement(session.database, dialect, names, tableName(table.schema, table.table));
  const read = await execute(session, strays({ limit: NAMED + 1 }));
  // That a table is missing is found elsewhere.
  if (read.isErr() && read.error.kind === 'schema' && !session.inTransaction) return ok([]);
  return read.map(({ rows }) => {
    if (rows.length === 0) return [];
    const ids = rows.slice(0, NAMED).map((row) => inspectValue(readId(taskIdType, row['task_id'])));
    const listed = `${ids.join(', ')}${rows.length > NAMED ? ', and more' : ''}`;
    const name = table.schema === undefined ? table.table : `${table.schema}.${table.table}`;
    const [severity, advice] = WHAT_TO_DO[part];
    const message = `${inspectValue(name)} has rows of tasks that are not there: ${listed}. ${advice}`;
    return [finding('stray-rows', severity, message, name)];
  });
}

const WHAT_TO_DO = {
  lease: [
    'warning',
    'The row of the task may spell its id in another way: release the lease once no one works under it.',
  ],
  effects: [
    'advice',
    'The row of the task may spell its id in another way, or was deleted: delete effects with their tasks.',
  ],
} as const;
