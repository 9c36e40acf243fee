import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { openSqlite } from 'transition-ownership/sqlite';
import type { ContractStore, ContractTables } from '../store.js';

/** The types of the caller's columns on SQLite. */
export const sqliteColumns = { integer: 'integer', text: 'text', instant: 'text' } as const;

/** A folder for the files of one database. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'transition-ownership-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A file with one connection for each process. */
export const sqliteFile: ContractStore = {
  name: 'SQLite file by better-sqlite3',
  columns: sqliteColumns,
  open: async () => {
    const folder = temporaryFolder();
    return {
      connect: () => new Kysely<ContractTables>({ dialect: openSqlite(join(folder.path, 'test.sqlite')) }),
      close: async () => folder.remove(),
    };
  },
};

/** A database in memory, which all processes reach through one handle; Kysely's own driver, without our cache. */
export const sqliteMemory: ContractStore = {
  name: 'SQLite in memory by better-sqlite3',
  columns: sqliteColumns,
  open: async () => {
    const db = new Kysely<ContractTables>({ dialect: new SqliteDialect({ database: new BetterSqlite3(':memory:') }) });
    return { connect: () => db, close: async () => {} };
  },
};
