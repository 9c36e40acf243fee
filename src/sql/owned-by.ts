import { type Expression, type SqlBool, sql } from 'kysely';
import type { IdValue } from '../core/id.js';
import type { Dialect } from '../dialect/dialect.js';
import { fence } from './lease-statements.js';
import { tableName } from './tables.js';

/** A condition that a statement of yours takes in its WHERE. */
export type Condition = Expression<SqlBool>;

/** The fence of a lease as an expression for statements of the caller's; true for a lease without a row. */
export function ownedByClaim(
  dialect: Dialect,
  { schema, table }: { readonly schema: string | undefined; readonly table: string },
  lease: { readonly taskId: IdValue; readonly claim: string } | undefined,
): Condition {
  if (lease === undefined) return sql<SqlBool>`1 = 1`;
  return fence(dialect, tableName(schema, table), sql`${lease.taskId}`, sql`${lease.claim}`);
}
