import { join } from 'node:path';
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';
import type { ContractStore, ContractTables } from '../store.js';
import { sqliteColumns, sqliteUtc, temporaryFolder } from './sqlite.js';

/** What is used of `DatabaseSync` of `node:sqlite`, which the types of the oldest Node do not know. */
interface NodeDatabase {
  exec(sql: string): void;
  prepare(sql: string): NodeStatement;
  close(): void;
}

interface NodeStatement {
  all(...parameters: readonly unknown[]): unknown[];
  run(...parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  columns?(): readonly unknown[];
}

type NodeSqlite = { readonly DatabaseSync: new (file: string) => NodeDatabase };

const nodeSqlite = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as NodeSqlite | undefined;
const missing = nodeSqlite === undefined ? `Node ${process.version} has no node:sqlite` : undefined;
if (missing !== undefined) process.stderr.write(`skipped: ${missing}\n`);

/** Makes of it what Kysely's driver takes. */
function asSqliteDatabase(database: NodeDatabase): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare: (text) => {
      const prepared = database.prepare(text);
      return {
        reader: /^\s*(select|with|pragma)\b|\breturning\b/i.test(text),
        all: (parameters) => prepared.all(...parameters),
        run: (parameters) => prepared.run(...parameters),
        iterate: (parameters) => prepared.all(...parameters)[Symbol.iterator](),
      };
    },
  };
}

/** A file by the SQLite of Node itself, from Node 22. */
export const nodeSqliteFile: ContractStore = {
  name: 'SQLite file by node:sqlite',
  missing,
  columns: sqliteColumns,
  utc: sqliteUtc,
  open: async () => {
    const folder = temporaryFolder();
    const open = (): SqliteDatabase => {
      if (nodeSqlite === undefined) throw new Error(missing);
      const database = new nodeSqlite.DatabaseSync(join(folder.path, 'test.sqlite'));
      database.exec('pragma journal_mode = wal; pragma busy_timeout = 100');
      return asSqliteDatabase(database);
    };
    return {
      connect: (log) =>
        new Kysely<ContractTables>({
          dialect: new SqliteDialect({ database: open() }),
          log: ({ query }) => log(query.sql),
        }),
      close: async () => folder.remove(),
    };
  },
};
