import { sql } from 'kysely';
import { describe, test } from 'vitest';
import { assertHolds, explore, memoryStore, type Process, sqliteFileStore } from '../../src/testing/index.js';

interface Tables {
  log: { id: number; text: string };
}

const migrate = async (db: Process<Tables>['db']) => {
  await sql`create table log (id integer primary key, text text not null)`.execute(db);
};

describe.each([
  ['memoryStore', memoryStore],
  ['sqliteFileStore', sqliteFileStore],
] as const)('%s', (_, makeStore) => {
  test('lets no id that a schedule inserted last be seen by the next', async () => {
    const store = makeStore<Tables>({ migrate });
    const writer = async ({ db }: Process<Tables>) => {
      await db.updateTable('log').set({ text: 'b' }).execute();
      await db.insertInto('log').values({ id: 7, text: 'a' }).execute();
    };
    try {
      assertHolds(await explore(store, { processes: { writer } }, { rerunEvery: 1 }));
    } finally {
      await store.close();
    }
  });
});
