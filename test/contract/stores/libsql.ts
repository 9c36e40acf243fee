import { join } from 'node:path';
import { LibsqlDialect } from '@libsql/kysely-libsql';
import { Kysely } from 'kysely';
import type { ContractStore, ContractTables } from '../store.js';
import { sqliteColumns, sqliteUtc, temporaryFolder } from './sqlite.js';

/** A file by libSQL, each process with connections of its own. */
export const libsql: ContractStore = {
  name: 'SQLite file by libSQL',
  columns: sqliteColumns,
  utc: sqliteUtc,
  open: async () => {
    const folder = temporaryFolder();
    return {
      connect: (log) =>
        new Kysely<ContractTables>({
          dialect: new LibsqlDialect({ url: `file:${join(folder.path, 'test.sqlite')}` }),
          log: ({ query }) => log(query.sql),
        }),
      close: async () => folder.remove(),
    };
  },
};
