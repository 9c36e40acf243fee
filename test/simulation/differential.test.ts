import mysql from 'mysql2';
import pg from 'pg';
import { memoryStore, mysqlStore, postgresStore, sqliteFileStore, type TestStore } from 'transition-ownership/testing';
import { describe, expect, test } from 'vitest';
import { compareReductions } from './differential.js';
import { type Cells, migrate } from './random-programs.js';

const { TEST_POSTGRES_URL, TEST_MYSQL_URL } = process.env;

const connect = async (): Promise<pg.Client> => {
  const client = new pg.Client(TEST_POSTGRES_URL);
  await client.connect();
  return client;
};

interface Place {
  readonly name: string;
  readonly there: boolean;
  readonly open: () => TestStore<Cells>;
  readonly seconds: number;
  /** A server runs a hundredth of the schedules in the same time. */
  readonly maxSchedules?: number;
}

const places: readonly Place[] = [
  { name: 'memory', there: true, open: () => memoryStore<Cells>({ migrate }), seconds: 10 },
  { name: 'a WAL file', there: true, open: () => sqliteFileStore<Cells>({ migrate }), seconds: 6 },
  {
    name: 'PostgreSQL',
    there: TEST_POSTGRES_URL !== undefined,
    open: () => postgresStore<Cells>({ connect, migrate }),
    seconds: 7,
    maxSchedules: 40,
  },
  {
    name: 'MariaDB',
    there: TEST_MYSQL_URL !== undefined,
    open: () => mysqlStore<Cells>({ connect: () => mysql.createConnection(TEST_MYSQL_URL ?? ''), migrate }),
    seconds: 7,
    maxSchedules: 40,
  },
];

/** A search whose states did not hold when a sleeper wakes lost states and ends of these. */
test.each([16, 33])(
  'program %i, which an older state cache cut short, is seen whole',
  { timeout: 60_000 },
  async (seed) => {
    const store = memoryStore<Cells>({ migrate });
    expect(await compareReductions(store, { firstSeed: seed, maxMs: 0 })).toEqual({ programs: 1, disagreements: [] });
    await store.close();
  },
);

describe('random programs are seen alike with and without reductions', () => {
  test.each(places)('on $name', { timeout: 120_000 }, async ({ name, there, open, seconds, maxSchedules }) => {
    if (!there) {
      expect(process.env['TEST_DATABASES_REQUIRED'], `${name} is required`).not.toBe('1');
      return;
    }
    const store = open();
    const firstSeed = Math.floor(Math.random() * 2 ** 31);
    const bounds = { firstSeed, maxMs: seconds * 1_000, ...(maxSchedules === undefined ? {} : { maxSchedules }) };
    const { programs, disagreements } = await compareReductions(store, bounds);
    await store.close();
    process.stdout.write(`compared ${String(programs)} programs on ${name} from seed ${String(firstSeed)}\n`);
    expect(disagreements).toEqual([]);
    expect(programs).toBeGreaterThan(0);
  });
});
