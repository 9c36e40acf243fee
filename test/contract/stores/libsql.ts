import { join } from 'node:path';
import { LibsqlDialect } from '@libsql/kysely-libsql';
import { Kysely, sql } from 'kysely';
import type { ContractStore, ContractTables } from '../store.js';
import { sqliteColumns, sqliteUtc, temporaryFolder } from './sqlite.js';

/**
 * A file by libSQL, all processes over one handle: a statement of this driver goes on reading until it is collected
 * as garbage, and a connection that reads an old state cannot write once another has written.
 */
export const libsql: ContractStore = {
  name: 'SQLite file by libSQL',
  columns: sqliteColumns,
  utc: sqliteUtc,
  open: async () => {
    const folder = temporaryFolder();
    const logs: ((sql: string) => void)[] = [];
    const db = new Kysely<ContractTables>({
      dialect: new LibsqlDialect({ url: `file:${join(folder.path, 'test.sqlite')}` }),
      log: ({ query }) => {
        for (const log of logs) log(query.sql);
      },
    });
    await sql`pragma journal_mode = wal`.execute(db);
    return {
      connect: (log) => {
        logs.push(log);
        return db;
      },
      close: async () => folder.remove(),
    };
  },
};
