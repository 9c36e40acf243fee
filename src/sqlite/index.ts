/**
 * SQLite by better-sqlite3, with the settings that leases need.
 *
 * @module transition-ownership/sqlite
 */
import BetterSqlite3 from 'better-sqlite3';
import { type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import { inspectValue } from '../core/inspect-value.js';
import { duration, oneOf, optional, type RulesOf, requestOf } from '../core/request.js';
import { offerTogether } from '../sql/together.js';
import { OneCommit } from './one-commit.js';

/** How a file is opened. */
export interface OpenSqliteOptions {
  /**
   * How hard a commit is written. Default `'full'`: a power cut takes back nothing that was acknowledged.
   * `'normal'` is faster and may lose the last commits at a power cut, an acquisition among them.
   */
  readonly synchronous?: 'full' | 'normal';
  /**
   * How long a statement waits for another process's lock, in ms, from 0 to 1,000. Default 100. The wait
   * blocks the event loop, and with it the renewals; longer waits are the library's, between statements.
   */
  readonly busyTimeoutMs?: number;
}

const check = requestOf(
  {
    synchronous: optional(oneOf('full', 'normal'), 'full'),
    busyTimeoutMs: optional(duration(0, 1_000), 100),
  } satisfies RulesOf<OpenSqliteOptions>,
  'options',
);

/** Statements that are kept prepared: more than the library and a busy application have. */
const MAX_STATEMENTS = 500;
/** How often the switch to WAL is tried, and the pause before each further try, in ms: a second in all. */
const MAX_TRIES = 50;
const PAUSE_MS = 10;

/**
 * Opens an SQLite file as a Kysely dialect, as an orchestrator wants it: WAL, `synchronous=FULL` on this very
 * connection, a short busy timeout, and prepared statements that are kept.
 *
 * Any number of processes may open a new file at once. Throws what better-sqlite3 throws if the file cannot be
 * opened, and `SQLITE_BUSY` if another process is in the way of WAL for longer than a second.
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
  if (typeof file !== 'string') throw new TypeError(`file must be a string, got ${inspectValue(file)}`);
  if (file === '') throw new RangeError('file must not be empty');
  const { synchronous, busyTimeoutMs } = check(options);
  const database = new BetterSqlite3(file, { timeout: PAUSE_MS });
  try {
    switchToWal(database);
    database.pragma(`synchronous = ${synchronous}`);
    database.pragma(`busy_timeout = ${busyTimeoutMs}`);
  } catch (error) {
    database.close();
    throw error;
  }
  const statements = cached(database);
  const together = new OneCommit(database, statements);
  return new SqliteDialect({
    database: statements,
    onCreateConnection: async (connection) => offerTogether(connection, together),
  });
}

/** SQLite does not wait here: of several processes that open a new file at once it refuses all but one. */
function switchToWal(database: BetterSqlite3.Database): void {
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 1; ; tries += 1) {
    try {
      database.pragma('journal_mode = wal');
      return;
    } catch (error) {
      const busy = error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!busy || tries === MAX_TRIES) throw error;
      Atomics.wait(asleep, 0, 0, PAUSE_MS);
    }
  }
}

/** Kysely prepares a statement at every call; this keeps the prepared ones; of too many the oldest leaves. */
function cached(database: BetterSqlite3.Database): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>();
  return {
    close: () => {
      kept.clear();
      database.close();
    },
    prepare: (sql) => {
      let statement = kept.get(sql);
      if (statement === undefined) {
        statement = database.prepare(sql);
        const [oldest] = kept.size < MAX_STATEMENTS ? [] : kept.keys();
        if (oldest !== undefined) kept.delete(oldest);
        kept.set(sql, statement);
      }
      return statement;
    },
  };
}
