import { sql } from 'kysely';
import type { Fragment, FreeInsert } from './dialect.js';

/** The rows of a {@link FreeInsert}: all that follows its columns. */
export function chosenRows({ rows, condition, order = sql`` }: FreeInsert, ...more: Fragment[]): Fragment {
  const given = condition === undefined ? more : [...more, condition];
  const where = given.length > 0 ? sql`where ${sql.join(given, sql` and `)}` : sql``;
  return sql`${rows} ${where} ${order}`;
}
