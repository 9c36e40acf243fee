/**
 * SQLite by better-sqlite3, with the settings that leases need.
 *
 * @module transition-ownership/sqlite
 */
import BetterSqlite3 from 'better-sqlite3';
import type { SqliteDialect } from 'kysely';
import { openedDialect } from './opened-dialect.js';
import { checkOpening, type OpenSqliteOptions } from './sqlite-options.js';
import { refuseTooNew } from './too-new.js';

export type { OpenSqliteOptions };

/**
 * Opens an SQLite file as a Kysely dialect, as an orchestrator wants it: WAL, `synchronous=FULL` on this very
 * connection, a short busy timeout, and prepared statements that are kept.
 *
 * Any number of processes may open a new file at once. Throws what better-sqlite3 throws if the file cannot be
 * opened, `SQLITE_BUSY` if another process is in the way of WAL for longer than a second, and an `Error` before it
 * opens anything if better-sqlite3 is too new for this Node: 13 needs Node 22.14.
 *
 * @example
 * ```ts
 * import { Kysely } from 'kysely';
 * import { openSqlite } from 'transition-ownership/sqlite';
 *
 * const db = new Kysely<{ tasks: { id: number; stage: string } }>({ dialect: openSqlite(':memory:') });
 * await db.destroy();
 * ```
 */
export function openSqlite(file: string, options: OpenSqliteOptions = {}): SqliteDialect {
  const checked = checkOpening(file, options);
  refuseTooNew(BetterSqlite3);
  return openedDialect(new BetterSqlite3(file), checked);
}
