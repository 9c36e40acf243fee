import { type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import { classifySqlite } from '../dialect/sqlite-errors.js';
import { offerTogether } from '../sql/together.js';
import { OneCommit } from './one-commit.js';
import type { OpenSqliteOptions } from './sqlite-options.js';

/** A connection to a file that was just opened, by any driver. */
export interface OpenedFile extends SqliteDatabase {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
}

/** Statements that are kept prepared: more than the library and a busy application have. */
const MAX_STATEMENTS = 500;
/** How often the switch to WAL is tried, and the pause before each further try, in ms: a second in all. */
const MAX_TRIES = 50;
const PAUSE_MS = 10;

/** Sets a file up as an orchestrator wants it, and makes the dialect over it; closes it if that fails. */
export function openedDialect(
  file: OpenedFile,
  { synchronous, busyTimeoutMs }: Required<OpenSqliteOptions>,
): SqliteDialect {
  try {
    file.exec(`pragma busy_timeout = ${PAUSE_MS}`);
    switchToWal(file);
    file.exec(`pragma synchronous = ${synchronous}`);
    file.exec(`pragma busy_timeout = ${busyTimeoutMs}`);
  } catch (error) {
    file.close();
    throw error;
  }
  const statements = cached(file);
  const together = new OneCommit(file, statements);
  return new SqliteDialect({
    database: statements,
    onCreateConnection: async (connection) => offerTogether(connection, together),
  });
}

/** SQLite does not wait here: of several processes that open a new file at once it refuses all but one. */
function switchToWal(file: OpenedFile): void {
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 1; ; tries += 1) {
    try {
      file.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (classifySqlite(error).kind !== 'busy' || tries === MAX_TRIES) throw error;
      Atomics.wait(asleep, 0, 0, PAUSE_MS);
    }
  }
}

/** Kysely prepares a statement at every call; this keeps the prepared ones; of too many the oldest leaves. */
function cached(file: OpenedFile): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>();
  return {
    close: () => {
      kept.clear();
      file.close();
    },
    prepare: (sql) => {
      let statement = kept.get(sql);
      if (statement === undefined) {
        statement = file.prepare(sql);
        const [oldest] = kept.size < MAX_STATEMENTS ? [] : kept.keys();
        if (oldest !== undefined) kept.delete(oldest);
        kept.set(sql, statement);
      }
      return statement;
    },
  };
}
