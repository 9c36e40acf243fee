/**
 * SQLite by `node:sqlite`: `openNodeSqlite`, without a driver.
 *
 * @module transition-ownership/node-sqlite
 */
import type { SqliteDialect } from 'kysely';
import { openedDialect } from '../sqlite/opened-dialect.js';
import { checkOpening, type OpenSqliteOptions } from '../sqlite/sqlite-options.js';
import { openedFile } from './opened-file.js';

export type { OpenSqliteOptions };

/**
 * Opens an SQLite file by the SQLite of Node itself, so that no driver is installed or built.
 *
 * Everything else is as `openSqlite` of `transition-ownership/sqlite` does it: WAL, `synchronous=FULL`, a short busy
 * timeout, kept prepared statements, writes that wait for the connection in one commit. Needs `node:sqlite` of
 * Node 22.16 or newer, Deno or Bun, and throws an `Error` that says so where there is none. An integer beyond
 * ±9,007,199,254,740,991 in a row is an error there, where better-sqlite3 rounds it.
 *
 * Throws what `node:sqlite` throws if the file cannot be opened, or if another process is in the way of WAL for longer
 * than a second.
 *
 * @example
 * ```ts
 * import { Kysely } from 'kysely';
 * import { openNodeSqlite } from 'transition-ownership/node-sqlite';
 *
 * const open = (file: string) =>
 *   new Kysely<{ tasks: { id: number; stage: string } }>({ dialect: openNodeSqlite(file, { synchronous: 'full' }) });
 * ```
 */
export function openNodeSqlite(file: string, options: OpenSqliteOptions = {}): SqliteDialect {
  const checked = checkOpening(file, options);
  return openedDialect(openedFile(file), checked);
}
