import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { Kysely, type LogEvent, SqliteDialect, sql } from 'kysely';
import { openSqlite } from 'transition-ownership/sqlite';
import { fillTasks, ownershipOn, type Tables } from '../ownership.js';

/** How hard a commit is written. */
export type Synchronous = 'normal' | 'full';

/** Who watches the statements of a database. */
export interface Watched {
  readonly onQuery?: (sql: string, ms: number) => void;
}

/** A folder for database files, and everything that was opened in it. */
export class Workshop {
  readonly #folder = mkdtempSync(join(tmpdir(), 'transition-ownership-bench-'));
  readonly #open: (() => unknown)[] = [];
  #files = 0;

  /** The path of a new file. */
  file(): string {
    this.#files += 1;
    return join(this.#folder, `${this.#files}.sqlite`);
  }

  /** Opens a file by the driver alone, with all tables in it. */
  async bare(file: string, synchronous: Synchronous): Promise<BetterSqlite3.Database> {
    const database = open(file, synchronous);
    await ownershipOn(await this.#filled(new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })));
    return database;
  }

  /** Opens a file by Kysely over `openSqlite`, which keeps statements prepared. */
  async kept(file: string, synchronous: Synchronous, { onQuery }: Watched = {}): Promise<Kysely<Tables>> {
    const dialect = openSqlite(file, { synchronous });
    const log = ({ query, queryDurationMillis }: LogEvent): void => onQuery?.(query.sql, queryDurationMillis);
    return this.#filled(new Kysely<Tables>({ dialect, ...(onQuery && { log }) }));
  }

  /** Opens a file by Kysely as it comes: it prepares a statement at every call. */
  async plain(file: string, synchronous: Synchronous): Promise<Kysely<Tables>> {
    return this.#filled(new Kysely<Tables>({ dialect: new SqliteDialect({ database: open(file, synchronous) }) }));
  }

  async #filled(db: Kysely<Tables>): Promise<Kysely<Tables>> {
    this.#open.push(() => db.destroy());
    await sql`create table tasks (id integer primary key, stage text not null, updated_at text)`.execute(db);
    await fillTasks(db);
    return db;
  }

  /** Closes everything and removes the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#open.reverse()) await close();
    rmSync(this.#folder, { recursive: true });
  }
}

function open(file: string, synchronous: Synchronous): BetterSqlite3.Database {
  const database = new BetterSqlite3(file);
  database.pragma('journal_mode = wal');
  database.pragma(`synchronous = ${synchronous}`);
  return database;
}
