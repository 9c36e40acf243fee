import { type Expression, type SqlBool, sql } from 'kysely';
import type { IdValue } from '../core/id.js';
import type { Dialect } from '../dialect/dialect.js';
import { fence } from './lease-statements.js';
import type { Database } from './statement.js';
import { tableName } from './tables.js';

/** A condition that a statement of yours takes in its WHERE. */
export type Condition = Expression<SqlBool>;

/**
 * The fence of a lease as an expression for the caller's statements; true for a lease without a row.
 *
 * Its names are text, out of the reach of the plugins that such a statement passes.
 */
export function ownedByClaim(
  database: Database,
  dialect: Dialect,
  { schema, table }: { readonly schema: string | undefined; readonly table: string },
  lease: { readonly taskId: IdValue; readonly claim: string } | undefined,
): Condition {
  if (lease === undefined) return sql<SqlBool>`1 = 1`;
  const quoted = sql.raw(tableName(schema, table).compile(database).sql);
  return fence(dialect, quoted, sql`${lease.taskId}`, sql`${lease.claim}`, (column) => sql.raw(column));
}
