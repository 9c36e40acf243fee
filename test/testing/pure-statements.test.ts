import { type Kysely, sql } from 'kysely';
import mysql from 'mysql2';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import {
  explore,
  mysqlStore,
  type Process,
  postgresStore,
  type Scenario,
  sqliteFileStore,
  type TestStore,
} from '../../src/testing/index.js';
import { onlyReads } from '../../src/testing/store/only-reads.js';

interface Tables {
  counter: { n: number };
}

const migrate = async (db: Kysely<Tables>) => {
  await sql`create table counter (n integer)`.execute(db);
};

describe('a statement that only reads', () => {
  test.each([
    'select "n" from "counter" where "n" in (1, 2) and exists (select 1)',
    'with x as (select count(*) as n from t) select max(n) from x',
    "select coalesce(n, 0) from t where s = 'f(1)'",
    'stream select * from t',
  ])('%s', (text) => {
    expect(onlyReads(text)).toBe(true);
  });

  test.each([
    'select bump()',
    'select "bump"(1)',
    'select * from t where f (n) = 1',
    'select * from t for update',
    'select n into other from t',
    'with x as (delete from t returning *) select * from x',
    "select nextval('s')",
    'insert into t values (1)',
    'call bump()',
  ])('is not: %s', (text) => {
    expect(onlyReads(text)).toBe(false);
  });

  test('SQLite says itself of every statement', async () => {
    const store: TestStore<Tables> = sqliteFileStore<Tables>({ migrate });
    await store.open();
    expect(store.readsOnly?.('select likelihood(n, 0.5) from counter')).toBe(true);
    expect(store.readsOnly?.('select no_such_function()')).toBe(false);
    expect(store.readsOnly?.('update counter set n = 1')).toBe(false);
    await store.close();
  });
});

const { TEST_POSTGRES_URL, TEST_MYSQL_URL } = process.env;

const withFunction = (definition: string) => async (db: Kysely<Tables>) => {
  await migrate(db);
  await sql.raw(definition).execute(db);
  await sql`create view calling as select bump() as n`.execute(db);
};

const servers: readonly [name: string, url: string | undefined, make: (url: string) => TestStore<Tables>][] = [
  [
    'PostgreSQL',
    TEST_POSTGRES_URL,
    (url) =>
      postgresStore<Tables>({
        connect: async () => {
          const client = new pg.Client(url);
          await client.connect();
          return client;
        },
        migrate: withFunction(
          'create function bump() returns integer language sql as $$ update counter set n = n + 1 returning n $$',
        ),
      }),
  ],
  [
    'MariaDB',
    TEST_MYSQL_URL,
    (url) =>
      mysqlStore<Tables>({
        connect: () => mysql.createConnection(url),
        migrate: withFunction(
          'create function bump() returns integer modifies sql data begin update counter set n = n + 1; return 1; end',
        ),
      }),
  ],
];

describe.each(servers)('a select on %s', (_name, url, make) => {
  const bump = ({ db }: Process<Tables>) => sql`select bump()`.execute(db);
  const scenario = (seen: Set<string>): Scenario<Tables> => ({
    setup: ({ store }) => store.admin.insertInto('counter').values({ n: 0 }).execute(),
    processes: {
      A: bump,
      B: async ({ db, ghost }) => ghost({ saw: (await db.selectFrom('counter').selectAll().execute())[0]?.n }),
    },
    invariant: (world) => {
      seen.add(JSON.stringify([world.rows('counter'), world.facts.map(({ saw }) => saw)]));
      return true;
    },
  });

  test.skipIf(!url)('that calls a function which writes is a write', { timeout: 60_000 }, async () => {
    const store = make(url ?? '');
    const [plain, reduced] = [new Set<string>(), new Set<string>()];
    await explore(store, scenario(plain), { reduce: 'none' });
    await explore(store, scenario(reduced), { reduce: 'both' });
    expect([...plain].sort()).toEqual([
      '[[{"n":0}],[0]]',
      '[[{"n":0}],[]]',
      '[[{"n":1}],[0]]',
      '[[{"n":1}],[1]]',
      '[[{"n":1}],[]]',
    ]);
    expect([...reduced].sort()).toEqual([...plain].sort());
    for (const text of ['select bump()', 'select * from calling', 'select unheard_of(1)']) {
      expect(store.readsOnly?.(text)).toBe(false);
    }
    expect(store.readsOnly?.("select lower(substring('a', 1, 1)), count(*) from counter")).toBe(true);
    await store.close();
  });
});
