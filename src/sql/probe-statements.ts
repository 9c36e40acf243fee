import { sql } from 'kysely';
import type { IdValue } from '../core/id.js';
import type { Dialect } from '../dialect/dialect.js';
import { type Database, statement } from './statement.js';
import { tableName } from './tables.js';

interface Scratch {
  readonly taskId: IdValue;
  readonly claim: string;
}

/** An integer that no JavaScript number holds. */
export const BIG = '9007199254740993';

/** The statements of a check on a scratch row of the lease table. */
export function probeStatements(
  database: Database,
  dialect: Dialect,
  { schema, table }: { readonly schema: string | undefined; readonly table: string },
) {
  const lease = tableName(schema, table);
  const returning = dialect.returning ? sql`returning fencing_token` : sql``;
  return {
    /** Writes the row as it is. */
    touch: statement<Scratch>(
      database,
      (p) => sql`update ${lease} set owner = owner where task_id = ${p.taskId} and claim = ${p.claim} ${returning}`,
    ),
    /** Writes something else. */
    rename: statement<Scratch & { actor: string }>(
      database,
      (p) =>
        sql`update ${lease} set owner = ${p.actor} where task_id = ${p.taskId} and claim = ${p.claim} ${returning}`,
    ),
    /** Finds the row by its claim, as every fence does. */
    find: statement<Scratch>(
      database,
      (p) => sql`select owner, stage from ${lease} where task_id = ${p.taskId} and claim = ${p.claim}`,
    ),
    /** Finds the row by its stage, as every stage write does. */
    findStage: statement<Scratch & { stage: string | null }>(
      database,
      (p) => sql`select owner from ${lease} where task_id = ${p.taskId} and claim = ${p.claim}
        and ${dialect.sameText(sql.id('stage'), p.stage)}`,
    ),
    /** Reads an integer beyond 2^53, as ids of type bigint are read. */
    big: statement<object>(database, () => sql`select ${dialect.readId('bigint', sql.raw(BIG))} as big`),
    /** Reads the clock. */
    clock: statement<object>(database, () => sql`select ${dialect.nowMs} as now_ms`),
  };
}

/** The statements of a check. */
export type ProbeStatements = ReturnType<typeof probeStatements>;
