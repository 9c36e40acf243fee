import type { Result } from 'neverthrow';
import type { StoreFailure } from '../core/failure.js';
import type { NamedTable } from '../dialect/dialect.js';
import { execute } from '../sql/execute.js';
import { readText } from '../sql/rows.js';
import { readColumns } from '../sql/schema-statements.js';
import type { Session } from '../sql/session.js';

/** The names of the columns of a table; none if there is no such table. */
export async function columnsOf(
  session: Session,
  table: NamedTable,
): Promise<Result<ReadonlySet<string>, StoreFailure>> {
  const read = await execute(session, readColumns(session.database, session.dialect, table));
  return read.map(({ rows }) => new Set(rows.map((row) => readText(row['column_name']) ?? '')));
}
