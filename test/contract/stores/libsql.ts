import { join } from 'node:path';
import { LibsqlDialect } from '@libsql/kysely-libsql';
import { Kysely, sql } from 'kysely';
import type { ContractStore, ContractTables } from '../store.js';
import { sqliteColumns, sqliteUtc, temporaryFolder } from './sqlite.js';

/** A file by libSQL, each process with connections of its own. */
export const libsql: ContractStore = {
  name: 'SQLite file by libSQL',
  columns: sqliteColumns,
  utc: sqliteUtc,
  open: async () => {
    const folder = temporaryFolder();
    const connect = (log: (sql: string) => void): Kysely<ContractTables> =>
      new Kysely<ContractTables>({
        dialect: new LibsqlDialect({ url: `file:${join(folder.path, 'test.sqlite')}` }),
        log: ({ query }) => log(query.sql),
      });
    const first = connect(() => {});
    // Its statements go on reading until they are collected, which without a WAL would keep every writer waiting.
    await sql`pragma journal_mode = wal`.execute(first);
    await first.destroy();
    return { connect, close: async () => folder.remove() };
  },
};
