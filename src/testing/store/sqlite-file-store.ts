import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { Kysely, type SqliteDatabase, SqliteDialect, sql } from 'kysely';
import { callable, given, list, oneOf, optional, type Rule, requestOf, text } from '../../core/request.js';
import {
  attachClock,
  cachedStatements,
  isSqliteBusy,
  openSqliteHandle,
  type SqliteClock,
  SqliteTables,
  sqliteClockFunction,
  sqliteErrors,
} from './sqlite-handle.js';
import type { AnyTables, Migrate, TestConnection, TestStore } from './store.js';

/** How `sqliteFileStore` is made. */
export interface SqliteFileStoreOptions<DB> {
  /** Makes the tables, once. */
  readonly migrate?: Migrate<DB>;
  /** The file; it must not exist. Default: one in a new folder, in shared memory where the system has that. */
  readonly path?: string;
  /** SQLite's journal mode. Default: `wal`. */
  readonly journal?: 'wal' | 'delete';
  /** Columns left out of snapshots because a real clock fills them. Default: `acquired_at`. */
  readonly ignoreColumns?: readonly string[];
}

const check = requestOf(
  {
    migrate: optional(callable),
    path: optional(given),
    journal: optional(oneOf('wal', 'delete')),
    ignoreColumns: optional(list(text)),
  } satisfies Readonly<Record<keyof SqliteFileStoreOptions<AnyTables>, Rule<unknown>>>,
  'options',
);

/**
 * A SQLite file with a real connection per simulated process: SQLite's own locks, snapshots and `SQLITE_BUSY`.
 *
 * Needs better-sqlite3. Connections wait for no lock (`timeout: 0`): a busy statement is blocked, and offered again
 * once something moved. `synchronous` is off, for a simulated crash never loses what was committed; see `powerLoss`.
 *
 * @example
 * ```ts
 * import { sql } from 'kysely';
 * import { sqliteFileStore } from 'transition-ownership/testing';
 *
 * sqliteFileStore({ migrate: (db) => sql`create table task (id integer primary key, stage text)`.execute(db) });
 * ```
 */
export function sqliteFileStore<DB = AnyTables>(options: SqliteFileStoreOptions<DB> = {}): TestStore<DB> {
  check(options);
  const files = new SqliteFiles(options);
  const admin = new Kysely<DB>({
    dialect: new SqliteDialect({ database: async () => (await files.admin()).statements }),
  });
  return {
    name: `sqlite file (${options.journal ?? 'wal'})`,
    admin,
    nowMs: sql<number>`${sql.raw(sqliteClockFunction)}()`,
    errors: sqliteErrors,
    open: () => files.open(async () => options.migrate?.(admin)),
    connect: () => files.connect(),
    reset: () => files.reset(),
    setNow(nowMs) {
      files.clock.nowMs = nowMs;
    },
    snapshot: () => files.tables().snapshot(),
    readsOnly: (text) => files.tables().readsOnly(text),
    isBusy: isSqliteBusy,
    async close() {
      await admin.destroy();
      await files.close();
    },
  };
}

interface Connection {
  readonly database: Database;
  readonly statements: SqliteDatabase;
}

class SqliteFiles {
  readonly clock: SqliteClock = { nowMs: 0 };
  private readonly options: SqliteFileStoreOptions<never>;
  private readonly path: string;
  private opening: Promise<Connection> | undefined;
  private all: SqliteTables | undefined;
  private migrated = false;
  /** Opening a file costs more than a schedule, so connections are kept; these are at no one's service now. */
  private readonly idle: Connection[] = [];
  private readonly used = new Set<Connection>();

  constructor(options: Pick<SqliteFileStoreOptions<never>, 'path' | 'journal' | 'ignoreColumns'>) {
    this.options = options;
    this.path = options.path ?? join(mkdtempSync(join(fastestFolder(), 'simulated-')), 'store.sqlite');
    if (existsSync(this.path)) throw new Error(`sqliteFileStore empties its file, so ${this.path} must not exist yet`);
  }

  admin(): Promise<Connection> {
    this.opening ??= this.openConnection();
    return this.opening;
  }

  tables(): SqliteTables {
    if (this.all === undefined || !this.migrated)
      throw new Error('sqliteFileStore is not open: await store.open() first');
    return this.all;
  }

  async open(migrate: () => Promise<unknown>): Promise<void> {
    if (this.migrated) return;
    await this.admin();
    await migrate();
    this.all?.reset();
    this.migrated = true;
    this.idle.push(await this.openConnection(), await this.openConnection());
  }

  connect(): TestConnection | Promise<TestConnection> {
    const kept = this.idle.pop();
    return kept === undefined ? this.openConnection().then((made) => this.lend(made)) : this.lend(kept);
  }

  reset(): void {
    for (const connection of this.used) this.takeBack(connection);
    this.tables().reset();
  }

  async close(): Promise<void> {
    for (const connection of [...this.idle, ...this.used]) connection.database.close();
    (await this.opening)?.database.close();
    if (this.options.path === undefined) rmSync(dirname(this.path), { recursive: true, force: true });
    else for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(this.path + suffix, { force: true });
  }

  private lend(connection: Connection): TestConnection {
    this.used.add(connection);
    return {
      dialect: new SqliteDialect({ database: connection.statements }),
      inTransaction: () => connection.database.inTransaction,
      kill: () => this.takeBack(connection),
    };
  }

  private takeBack(connection: Connection): void {
    if (!this.used.delete(connection)) return;
    if (connection.database.inTransaction) connection.database.exec('rollback');
    this.idle.push(connection);
  }

  private async openConnection(): Promise<Connection> {
    const database = await openSqliteHandle(this.path);
    database.pragma(`journal_mode = ${this.options.journal ?? 'wal'}`);
    database.pragma('synchronous = off');
    attachClock(database, this.clock);
    const first = this.all === undefined;
    this.all ??= new SqliteTables(database, this.options.ignoreColumns);
    return { database, statements: cachedStatements(database, first ? this.all.seenByAdmin : this.all.seenByProcess) };
  }
}

const fastestFolder = () => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
