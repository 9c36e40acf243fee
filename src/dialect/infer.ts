import { type QueryExecutorProvider, sql } from 'kysely';
import { inspectValue } from '../core/inspect-value.js';
import type { Dialect } from './dialect.js';
import { mysqlDialect } from './mysql.js';
import { postgresDialect } from './postgres.js';
import { sqliteDialect } from './sqlite.js';

/** The name of a shipped dialect. */
export type DialectName = 'sqlite' | 'postgres' | 'mysql';

/** The shipped dialects, by the name that the option takes. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = Object.freeze({
  sqlite: sqliteDialect,
  postgres: postgresDialect,
  mysql: mysqlDialect,
});

/** How each database spells an identifier and its first parameter. */
const SPELLINGS: Readonly<Record<string, DialectName>> = Object.freeze({
  '"a" = ?': 'sqlite',
  '"a" = $1': 'postgres',
  '`a` = ?': 'mysql',
});

/**
 * The dialect of the option, or else the one that the handle compiles for: recognised by how it spells a
 * placeholder, never by class names, which bundlers change and copies of a package double.
 */
export function resolveDialect(option: DialectName | Dialect | undefined, database: QueryExecutorProvider): Dialect {
  if (typeof option === 'object' && option !== null) {
    const lacking = Object.keys(sqliteDialect).find((member) => !(member in option));
    if (lacking !== undefined) throw new TypeError(`dialect must be a whole Dialect: it has no ${lacking}`);
    return option;
  }
  if (option !== undefined) {
    if (Object.hasOwn(DIALECTS, option)) return DIALECTS[option];
    throw new RangeError(`dialect must be "sqlite", "postgres", "mysql" or a Dialect, got ${inspectValue(option)}`);
  }
  const spelling = sql`${sql.ref('a')} = ${1}`.compile(database).sql;
  const name = SPELLINGS[spelling];
  if (name === undefined) {
    throw new TypeError(
      `the dialect cannot be inferred from the spelling ${inspectValue(spelling)}: name it in the option dialect`,
    );
  }
  return DIALECTS[name];
}
