import type { Database, Options, Statement } from 'better-sqlite3';
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { loadPeer } from './load-peer.js';
import { onlyReads } from './only-reads.js';
import { type Row, realClockColumns, type Snapshot, type StoreErrors } from './store.js';

/** Loads better-sqlite3 on first use, so that a user of another database need not have it. */
export async function openSqliteHandle(file: string, options: Options = {}): Promise<Database> {
  const open = await loadPeer('better-sqlite3', () => import('better-sqlite3'));
  // Waiting for a lock would block the only thread, and with it the process that holds the lock.
  return new open(file, { timeout: 0, ...options });
}

/** A handle with its prepared statements kept: Kysely prepares anew each time, which is half the cost of a step. */
export function cachedStatements(database: Database, seen: (text: string) => void): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close() {},
    prepare(text) {
      seen(text);
      const statement = statements.get(text) ?? withoutForeignInsertId(text, database.prepare(text));
      statements.set(text, statement);
      return statement;
    },
  };
}

/**
 * A statement that inserts nothing returns the id that its connection inserted last, and connections outlive
 * schedules: here it returns 0.
 */
function withoutForeignInsertId(text: string, statement: Statement): SqliteStatement {
  const inserts = /\b(insert|replace)\b/i.test(text);
  return {
    reader: statement.reader,
    all: (parameters) => statement.all(parameters),
    iterate: (parameters) => statement.iterate(parameters),
    run(parameters) {
      const { changes, lastInsertRowid } = statement.run(parameters);
      return { changes, lastInsertRowid: inserts && changes > 0 ? lastInsertRowid : 0 };
    },
  };
}

/** The virtual clock of one SQLite store: a function on every connection, so that reading it takes no lock. */
export interface SqliteClock {
  nowMs: number;
}

/** The name of the SQL function that reads the virtual clock. */
export const sqliteClockFunction = 'simulated_now_ms';

/** Gives a connection the virtual clock. */
export function attachClock(database: Database, clock: SqliteClock): void {
  database.function(sqliteClockFunction, { deterministic: false, directOnly: false }, () => clock.nowMs);
}

/** Empties and reads all tables of one SQLite database; looks for new tables only after a statement that may make one. */
export class SqliteTables {
  private readonly database: Database;
  private readonly ignored: ReadonlySet<string>;
  private known: { readonly name: string; readonly empty: Statement; readonly read: Statement }[] = [];
  private stale = true;
  private madeByProcess = false;
  private kept = new Set<string>();
  private readonly reads = new Map<string, boolean>();

  constructor(database: Database, ignoredColumns: readonly string[] = realClockColumns) {
    this.database = database;
    this.ignored = new Set(ignoredColumns);
  }

  /** Whether SQLite itself says that a statement changes nothing. */
  readonly readsOnly = (text: string): boolean => {
    if (!onlyReads(text, anyFunction)) return false;
    let reads = this.reads.get(text);
    if (reads === undefined) this.reads.set(text, (reads = this.saysReadonly(text.replace(/^\s*stream\s+/i, ''))));
    return reads;
  };

  /** Notices a statement of `admin` that may change the set of tables. What `admin` makes stays. */
  readonly seenByAdmin = (text: string): void => {
    if (changesTables(text)) this.stale = true;
  };

  /** Notices a statement of a process. A table that a process makes does not outlive its schedule. */
  readonly seenByProcess = (text: string): void => {
    if (changesTables(text)) this.stale = this.madeByProcess = true;
  };

  reset(): void {
    const present = this.tables();
    if (!this.madeByProcess) this.kept = new Set(present.map((table) => table.name));
    this.madeByProcess = false;
    for (const table of present) {
      if (this.kept.has(table.name)) table.empty.run();
      else this.drop(table.name);
    }
  }

  snapshot(): Snapshot {
    const rows: Record<string, readonly Row[]> = {};
    for (const { name, read } of this.tables()) rows[name] = read.all() as Row[];
    return rows;
  }

  private tables() {
    if (!this.stale) return this.known;
    const names = this.database
      .prepare(
        `select name from sqlite_master where type = 'table' and (name not like 'sqlite~_%' escape '~' or name = 'sqlite_sequence') order by name`,
      )
      .pluck()
      .all() as string[];
    this.known = names.map((name) => ({
      name,
      empty: this.database.prepare(`delete from ${quoted(name)}`),
      read: this.database.prepare(this.reading(name)),
    }));
    this.stale = false;
    return this.known;
  }

  private reading(table: string): string {
    const names = this.database.prepare('select name from pragma_table_info(?)').pluck().all(table) as string[];
    const columns = names.filter((name) => !this.ignored.has(name)).map(quoted);
    if (columns.length === 0) return `select count(*) as rows from ${quoted(table)}`;
    return `select ${columns.join(', ')} from ${quoted(table)} order by ${columns.map((_, at) => at + 1).join(', ')}`;
  }

  private saysReadonly(text: string): boolean {
    try {
      return this.database.prepare(text).readonly;
    } catch {
      return false;
    }
  }

  private drop(table: string): void {
    if (table !== 'sqlite_sequence') this.database.exec(`drop table ${quoted(table)}`);
    this.stale = true;
  }
}

/** SQLite runs in this process: the only functions are its own and what the store has added. */
const anyFunction = Object.freeze({ isPure: () => true });

const changesTables = (text: string) => /^\s*(create|drop|alter)\b/i.test(text);

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Whether the statement met another connection's lock. A stale snapshot is not one: waiting does not cure it. */
export function isSqliteBusy(error: unknown): boolean {
  return error instanceof Error && /^SQLITE_BUSY(?!_SNAPSHOT)/.test(String(Reflect.get(error, 'code')));
}

/** An error as better-sqlite3 would raise it. */
export function sqliteError(code: string, message: string): Error {
  return Object.assign(new Error(message), { name: 'SqliteError', code });
}

/** Injected faults, in SQLite's words. A lost reply does not happen to a library in the same process: its code is our own. */
export const sqliteErrors: StoreErrors = Object.freeze({
  failed: () => sqliteError('SQLITE_BUSY', 'injected: database is locked'),
  connectionLost: () => sqliteError('ECONNRESET', 'injected: the statement ran, its reply was lost'),
  diskFull: () => sqliteError('SQLITE_FULL', 'injected: database or disk is full'),
});
