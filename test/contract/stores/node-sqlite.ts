import { join } from 'node:path';
import { Kysely } from 'kysely';
import { openNodeSqlite } from 'transition-ownership/node-sqlite';
import { missingNodeSqlite } from '../../sqlite/openers.js';
import type { ContractStore, ContractTables } from '../store.js';
import { sqliteColumns, sqliteUtc, temporaryFolder } from './sqlite.js';

if (missingNodeSqlite !== undefined) process.stderr.write(`skipped: ${missingNodeSqlite}\n`);

/** A file by the SQLite of Node itself, from Node 22. */
export const nodeSqliteFile: ContractStore = {
  name: 'SQLite file by node:sqlite',
  missing: missingNodeSqlite,
  columns: sqliteColumns,
  utc: sqliteUtc,
  open: async () => {
    const folder = temporaryFolder();
    return {
      connect: (log) =>
        new Kysely<ContractTables>({
          dialect: openNodeSqlite(join(folder.path, 'test.sqlite')),
          log: ({ query }) => log(query.sql),
        }),
      close: async () => folder.remove(),
    };
  },
};
