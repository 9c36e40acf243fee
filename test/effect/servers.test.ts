import { CompiledQuery, MysqlDialect } from 'kysely';
import { expect, test } from 'vitest';
import { makeDatabases, mysqlPool } from '../contract/stores/mysql.js';
import { prove, proveOn } from '../job/proofs.js';
import { type JobStore, mysqlStore, postgresStore } from '../job/stores.js';
import { openYard } from '../job/yard.js';
import { everywhere, START } from './everywhere.js';
import { locking } from './locking.js';

prove('effects', 'effects', everywhere);

/** MySQL as many configure it: there a statement locks what it reads only where it says so. */
const readCommittedStore: JobStore = {
  ...mysqlStore,
  name: 'MySQL at READ COMMITTED',
  open: async (suite) => {
    const database = `jobs_${suite}_committed`;
    const close = await makeDatabases(database);
    const set = CompiledQuery.raw('set session transaction isolation level read committed');
    const onCreateConnection = async (connection: { executeQuery(query: CompiledQuery): Promise<unknown> }) =>
      void (await connection.executeQuery(set));
    return { connect: () => new MysqlDialect({ pool: mysqlPool(database), onCreateConnection }), close };
  },
};

for (const store of [postgresStore, mysqlStore, readCommittedStore])
  proveOn(store, 'effects beside an open transaction', locking, { suite: 'effects' });

for (const store of [postgresStore, readCommittedStore]) {
  for (const [title, proof] of Object.entries(locking)) {
    test.skipIf(store.missing !== undefined)(
      `SQL mutant: without the share lock of the start, on ${store.name}, fails: ${title}`,
      async () => {
        const mutate = (text: string) =>
          START.test(text) ? text.replace(/for key share|lock in share mode/, '') : text;
        await using yard = await openYard(store, { suite: 'effects', mutate });
        await expect(proof(yard)).rejects.toThrow('should be a failure');
      },
    );
  }
}
