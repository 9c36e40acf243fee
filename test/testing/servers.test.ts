import { sql } from 'kysely';
import mysql from 'mysql2';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import {
  assertHolds,
  explore,
  memoryStore,
  mysqlStore,
  type Process,
  postgresStore,
  replay,
  type Scenario,
  type TestStore,
} from '../../src/testing/index.js';
import { rowLockWaits } from '../../src/testing/store/mysql-lock-waits.js';
import * as leases from './leases.js';

type Isolation = 'read committed' | 'repeatable read' | 'serializable';
type MakeStore = (guarded: boolean, isolation: Isolation) => TestStore<leases.LeaseTables>;

const { TEST_POSTGRES_URL, TEST_MYSQL_URL, TEST_DATABASES_REQUIRED } = process.env;

const connectPostgres = (url: string) => async () => {
  const client = new pg.Client(url);
  await client.connect();
  return client;
};

const servers: readonly [name: string, variable: string, url: string | undefined, make: (url: string) => MakeStore][] =
  [
    [
      'PostgreSQL',
      'TEST_POSTGRES_URL',
      TEST_POSTGRES_URL,
      (url) => (guarded, isolation) =>
        postgresStore({ connect: connectPostgres(url), isolation, migrate: leases.migrateLease({ guarded }) }),
    ],
    [
      'MariaDB',
      'TEST_MYSQL_URL',
      TEST_MYSQL_URL,
      (url) => (guarded, isolation) =>
        mysqlStore({
          connect: () => mysql.createConnection(url),
          isolation,
          migrate: leases.migrateLease({ guarded }),
        }),
    ],
  ];

/** Runs with a store that is closed afterwards, whatever happens. */
async function using(
  store: TestStore<leases.LeaseTables>,
  run: (store: TestStore<leases.LeaseTables>) => Promise<void>,
): Promise<void> {
  try {
    await run(store);
  } finally {
    await store.close();
  }
}

const lookThenAct = (): Scenario<leases.LeaseTables> => ({
  ...leases.workers(
    leases.checkThenActInTransaction,
    'AB',
    {},
    leases.worker(leases.checkThenActInTransaction, 't', []),
  ),
  mayThrow: () => true,
});

/** Two transactions that lock two rows, in the order given. */
const lockers = (orders: Readonly<Record<string, readonly string[]>>): Scenario<leases.LeaseTables> => ({
  setup: async ({ store }) => {
    for (const task of ['a', 'b'])
      await store.admin.insertInto('stage').values({ task, stage: 's', fencing_token: 0, version: 0 }).execute();
  },
  processes: Object.fromEntries(
    Object.entries(orders).map(([name, tasks]) => [
      name,
      ({ db }: Process<leases.LeaseTables>) =>
        db.transaction().execute(async (transaction) => {
          for (const task of tasks)
            await sql`update stage set version = version + 1 where task = ${task}`.execute(transaction);
        }),
    ]),
  ),
  mayThrow: () => true,
});

for (const [name, variable, url, make] of servers) {
  if (url === undefined) {
    const told = `${variable} is not set, so the store of ${name} is not tested`;
    if (TEST_DATABASES_REQUIRED === '1') {
      test(`${name} is required`, () => expect.fail(told));
    } else {
      process.stdout.write(`${told}\n`);
    }
    continue;
  }
  const makeStore = make(url);

  describe(`the store of ${name}`, { timeout: 120_000 }, () => {
    test('runs the same schedules as SQLite for single statements', async () => {
      // MariaDB has no `on conflict`: what both can say is looking and acting.
      const scenario = {
        ...leases.workers(leases.checkThenAct, 'AB', { crashes: 1 }, leases.worker(leases.checkThenAct, 't', [])),
        invariant: [],
      };
      const memory = memoryStore({ migrate: leases.migrateLease({ guarded: false }) });
      const onMemory = await explore(memory, scenario);
      await memory.close();
      await using(makeStore(false, 'read committed'), async (store) => {
        const report = await explore(store, scenario);
        assertHolds(report);
        expect([report.schedules, report.steps]).toEqual([onMemory.schedules, onMemory.steps]);
      });
    });

    test('finds looking and acting in one transaction broken at READ COMMITTED, with a token that replays', async () => {
      await using(makeStore(false, 'read committed'), async (store) => {
        const { failure } = await explore(store, lookThenAct());
        expect(failure?.violated).toContain('a fencing token is granted once');
        const again = await replay(store, lookThenAct(), failure?.token ?? '');
        expect(again.trace).toEqual(failure?.trace);
      });
    });

    test('finds the same harmless at SERIALIZABLE, and alike each time, whichever of two a deadlock ends', async () => {
      await using(makeStore(false, 'serializable'), async (store) => {
        assertHolds(await explore(store, lookThenAct(), { rerunEvery: 1 }));
      });
    });

    test('sees a statement wait for a lock, leaves it in flight, and collects it when the lock comes free', async () => {
      await using(makeStore(true, 'read committed'), async (store) => {
        let waited = 0;
        const report = await explore(store, {
          ...lockers({ A: ['a'], B: ['a'] }),
          invariant: (world) => {
            if (world.trace.at(-1)?.endsWith('… waits for a lock') === true) waited += 1;
          },
          finally: (world) => {
            const row = world.rows('stage').find(({ task }) => task === 'a');
            if (Number(row?.['version']) !== 2) throw new Error(`an update was lost: ${JSON.stringify(row)}`);
          },
        });
        assertHolds(report);
        expect(waited).toBeGreaterThan(0);
      });
    });

    test('ends a deadlock at the cost of one process', async () => {
      await using(makeStore(true, 'read committed'), async (store) => {
        const ends = new Set<string>();
        const scenario: Scenario<leases.LeaseTables> = {
          ...lockers({ A: ['a', 'b'], B: ['b', 'a'] }),
          finally: (world) =>
            ends.add(
              world.processes
                .map(({ state }) => state)
                .sort()
                .join(),
            ),
        };
        const { failure } = await explore(store, scenario, { maxSchedules: 60, rerunEvery: 0 });
        expect(failure).toBeUndefined();
        expect([...ends].sort()).toEqual(['ended,ended', 'ended,failed']);
      });
    });

    test('rolls the open transaction of a killed process back and frees its locks', async () => {
      await using(makeStore(true, 'read committed'), async (store) => {
        const versions = new Set<number>();
        const report = await explore(store, {
          ...lockers({ A: ['a'], B: ['a'] }),
          faults: { crashes: 1 },
          finally: (world) => versions.add(Number(world.rows('stage').find(({ task }) => task === 'a')?.['version'])),
        });
        assertHolds(report);
        expect([...versions].sort()).toEqual([1, 2]);
      });
    });

    test('tells virtual time inside a transaction that began before it moved', async () => {
      await using(makeStore(true, 'repeatable read'), async (store) => {
        const main = ({ db, clock }: Process<leases.LeaseTables>) =>
          db.transaction().execute(async (transaction) => {
            const read = async () =>
              Number((await sql<{ now: number }>`select ${store.nowMs} as now`.execute(transaction)).rows[0]?.now);
            const before = await read();
            await clock.sleep(40);
            return (await read()) - before;
          });
        const told: unknown[] = [];
        assertHolds(
          await explore(store, { processes: { A: main }, finally: (world) => told.push(world.processes[0]?.result) }),
        );
        expect(told).toEqual([40]);
      });
    });
  });
}

test('rowLockWaits reads the waiting connections out of the report of InnoDB', () => {
  const report = [
    '------------\nTRANSACTIONS\n------------',
    '---TRANSACTION 421, not started\n0 lock struct(s), heap size 1128',
    '---TRANSACTION 1066, ACTIVE 3 sec starting index read\nmysql tables in use 1, locked 1\nLOCK WAIT 2 lock struct(s)\nMariaDB thread id 34, OS thread handle 1, query id 5 localhost root Updating',
    '---TRANSACTION 1065, ACTIVE 9 sec\n2 lock struct(s)\nMySQL thread id 33, OS thread handle 2, query id 4 localhost root',
  ].join('\n');
  expect(rowLockWaits(report)).toEqual([34]);
});
