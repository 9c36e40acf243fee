import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { Kysely, type RawBuilder, SqliteDialect, sql } from 'kysely';
import { openSqlite } from 'transition-ownership/sqlite';
import type { ContractStore, ContractTables } from '../store.js';

/** The types of the caller's columns on SQLite. */
export const sqliteColumns = { integer: 'integer', text: 'text', instant: 'text' } as const;

/** Instants are text there. */
export const sqliteUtc = (column: RawBuilder<unknown>): RawBuilder<string> => sql<string>`${column}`;

/** A folder for the files of one database. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'transition-ownership-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A file with one connection for each process. */
export const sqliteFile: ContractStore = {
  name: 'SQLite file by better-sqlite3',
  columns: sqliteColumns,
  utc: sqliteUtc,
  open: async () => {
    const folder = temporaryFolder();
    return {
      connect: (log) =>
        new Kysely<ContractTables>({
          dialect: openSqlite(join(folder.path, 'test.sqlite')),
          log: ({ query }) => log(query.sql),
        }),
      close: async () => folder.remove(),
    };
  },
};

/** A database in memory, which all processes reach through one handle; Kysely's own driver, without our cache. */
export const sqliteMemory: ContractStore = {
  name: 'SQLite in memory by better-sqlite3',
  columns: sqliteColumns,
  utc: sqliteUtc,
  open: async () => {
    const logs: ((sql: string) => void)[] = [];
    const db = new Kysely<ContractTables>({
      dialect: new SqliteDialect({ database: new BetterSqlite3(':memory:') }),
      log: ({ query }) => {
        for (const log of logs) log(query.sql);
      },
    });
    return {
      connect: (log) => {
        logs.push(log);
        return db;
      },
      close: async () => {},
    };
  },
};
