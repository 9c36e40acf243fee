import type { Database } from 'better-sqlite3';
import { Kysely, type SqliteDatabase, SqliteDialect, sql } from 'kysely';
import { callable, list, oneOf, optional, type Rule, requestOf, text } from '../../core/request.js';
import {
  attachClock,
  cachedStatements,
  isSqliteBusy,
  openSqliteHandle,
  type SqliteClock,
  SqliteTables,
  sqliteClockFunction,
  sqliteError,
  sqliteErrors,
} from './sqlite-handle.js';
import type { AnyTables, Migrate, TestConnection, TestStore } from './store.js';

/** How `memoryStore` is made. */
export interface MemoryStoreOptions<DB> {
  /** Makes the tables, once. */
  readonly migrate?: Migrate<DB>;
  /**
   * What becomes of `begin`. All processes share one handle, so a transaction can only be had as a lock on the whole
   * database. Default: `refuse`.
   */
  readonly transactions?: 'refuse' | 'global-lock';
  /** Columns left out of snapshots because a real clock fills them. Default: `acquired_at`. */
  readonly ignoreColumns?: readonly string[];
}

const check = requestOf(
  {
    migrate: optional(callable),
    transactions: optional(oneOf('refuse', 'global-lock')),
    ignoreColumns: optional(list(text)),
  } satisfies Readonly<Record<keyof MemoryStoreOptions<AnyTables>, Rule<unknown>>>,
  'options',
);

/**
 * One SQLite database in memory, for protocols of single statements. The fastest store.
 *
 * Needs better-sqlite3. A transaction is refused (or locks all others out, by option): use `sqliteFileStore` to see
 * SQLite's own locks and snapshots.
 *
 * @example
 * ```ts
 * import { sql } from 'kysely';
 * import { memoryStore } from 'transition-ownership/testing';
 *
 * memoryStore({ migrate: (db) => sql`create table task (id integer primary key, stage text)`.execute(db) });
 * ```
 */
export function memoryStore<DB = AnyTables>(options: MemoryStoreOptions<DB> = {}): TestStore<DB> {
  check(options);
  const clock: SqliteClock = { nowMs: 0 };
  let opening: Promise<Opened> | undefined;
  let opened: Opened | undefined;
  const handle = () => {
    opening ??= openMemory(clock, options.ignoreColumns);
    return opening;
  };
  const ready = () => {
    if (opened === undefined) throw new Error('memoryStore is not open: await store.open() first');
    return opened;
  };
  const admin = new Kysely<DB>({ dialect: new SqliteDialect({ database: async () => (await handle()).statements }) });
  return {
    name: 'memory',
    admin,
    nowMs: sql<number>`${sql.raw(sqliteClockFunction)}()`,
    errors: sqliteErrors,
    async open() {
      if (opened !== undefined) return;
      const made = await handle();
      await options.migrate?.(admin);
      made.tables.reset();
      opened = made;
    },
    connect: () => ready().lock.connect(options.transactions ?? 'refuse'),
    reset() {
      ready().lock.release();
      ready().tables.reset();
    },
    setNow(nowMs) {
      clock.nowMs = nowMs;
    },
    snapshot: () => ready().tables.snapshot(),
    readsOnly: (text) => ready().tables.readsOnly(text),
    isBusy: isSqliteBusy,
    async close() {
      await admin.destroy();
      (await opening)?.database.close();
    },
  };
}

interface Opened {
  readonly database: Database;
  readonly statements: SqliteDatabase;
  readonly tables: SqliteTables;
  readonly lock: GlobalLock;
}

async function openMemory(clock: SqliteClock, ignoreColumns: readonly string[] | undefined): Promise<Opened> {
  const database = await openSqliteHandle(':memory:');
  attachClock(database, clock);
  const tables = new SqliteTables(database, ignoreColumns);
  const statements = cachedStatements(database, tables.seenByAdmin);
  const shared = cachedStatements(database, tables.seenByProcess);
  return { database, statements, tables, lock: new GlobalLock(database, shared) };
}

/** The one transaction that a shared handle can have, and whose it is. */
class GlobalLock {
  private readonly database: Database;
  private readonly statements: SqliteDatabase;
  private owner: object | undefined;

  constructor(database: Database, statements: SqliteDatabase) {
    this.database = database;
    this.statements = statements;
  }

  connect(transactions: 'refuse' | 'global-lock'): TestConnection {
    const me = {};
    const prepare = (text: string) => {
      if (this.owner !== undefined && this.owner !== me) throw sqliteError('SQLITE_BUSY', 'database is locked');
      if (/^\s*begin\b/i.test(text)) {
        if (transactions === 'refuse') throw refusal();
        this.owner = me;
      } else if (/^\s*(commit|end|rollback)\s*;?\s*$/i.test(text)) this.owner = undefined;
      return this.statements.prepare(text);
    };
    return {
      dialect: new SqliteDialect({ database: { close() {}, prepare } }),
      inTransaction: () => this.owner === me,
      kill: () => {
        if (this.owner === me) this.release();
      },
    };
  }

  release(): void {
    if (this.database.inTransaction) this.database.exec('rollback');
    this.owner = undefined;
  }
}

const refusal = () =>
  new Error("memoryStore refuses transactions: use sqliteFileStore, or memoryStore({ transactions: 'global-lock' })");
