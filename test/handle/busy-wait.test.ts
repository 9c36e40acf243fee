import BetterSqlite3 from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  inspectLease,
  releaseLease,
  shouldDefer,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import { manualClock } from 'transition-ownership/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ContractStore } from '../contract/store.js';
import { libsql } from '../contract/stores/libsql.js';
import { nodeSqliteFile } from '../contract/stores/node-sqlite.js';
import { err, ok } from '../rig/proofs.js';
import { settled } from '../rig/time.js';

interface Tables {
  tasks: { id: number; stage: string };
}

interface Opened {
  readonly db: Kysely<Tables>;
  close(): Promise<unknown>;
}

interface Driver {
  readonly name: string;
  readonly missing?: string | undefined;
  open(): Promise<Opened>;
}

const ofContract = (contract: ContractStore): Driver => ({
  name: contract.name,
  missing: contract.missing,
  open: async () => {
    const store = await contract.open();
    const db = store.connect(() => {}) as unknown as Kysely<Tables>;
    return { db, close: () => db.destroy().then(() => store.close()) };
  },
});

const ofDialect = (name: string, dialect: () => SqliteDialect): Driver => ({
  name,
  open: async () => {
    const db = new Kysely<Tables>({ dialect: dialect() });
    return { db, close: () => db.destroy() };
  },
});

/** Every driver that has one connection. */
const drivers: readonly Driver[] = [
  ofDialect('openSqlite', () => openSqlite(':memory:')),
  ofDialect('better-sqlite3', () => new SqliteDialect({ database: new BetterSqlite3(':memory:') })),
  ofContract(nodeSqliteFile),
];

const BUSY = {
  type: 'store-failure',
  kind: 'busy',
  outcome: 'not-applied',
  retryable: true,
  message:
    'The store failed (busy, nothing was applied): a transaction of yours may have the only connection: use ownership.using(trx).',
};
const request = { taskId: 1, actor: 'worker', stage: 'a' } as const;
const other = { taskId: 2, actor: 'worker', stage: 'a' } as const;

describe.each(drivers)('a verb over the outer handle inside a transaction, by $name', (driver) => {
  const check = test.skipIf(driver.missing !== undefined);
  const clock = manualClock();
  let opened: Opened;

  beforeEach(async () => {
    if (driver.missing !== undefined) return;
    opened = await driver.open();
    await sql`create table if not exists tasks (id integer primary key, stage text)`.execute(opened.db);
    await sql`insert into tasks (id, stage) values (1, 'a'), (2, 'a')`.execute(opened.db);
  });
  afterEach(() => (driver.missing === undefined ? opened.close() : undefined));

  const make = async (options: { readonly busyWaitMs?: number; readonly clock?: typeof clock } = {}) => {
    const { db } = opened;
    const lease = { ttlMs: 900, renewEveryMs: 200 };
    const ownership = createTransitionOwnership({
      db,
      tasks: { table: 'tasks', id: 'id', stage: 'stage' },
      lease,
      ...options,
    });
    await ok(ensureSchema(ownership));
    return ownership;
  };
  /** Time passes in small steps, so that what each starts can go on. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.advance(50);
      await settled();
    }
  };

  check('returns busy when its wait is over, and its statement is never sent', async () => {
    const ownership = await make({ busyWaitMs: 60 });
    const failures = await opened.db
      .transaction()
      .execute(async () => [
        await err(acquireLease(ownership, request)),
        await err(updateStageCas(ownership, { taskId: 2, expected: 'a', next: 'b' })),
        await err(inspectLease(ownership, 1)),
        await err(updateStageCas(ownership, { taskId: 2, expected: 'a', next: 'b' })),
      ]);
    for (const failure of failures) expect(failure).toMatchObject(BUSY);
    expect(await ok(inspectLease(ownership, 1))).toMatchObject({ state: 'free' });
    expect((await opened.db.selectFrom('tasks').select('stage').execute()).map(({ stage }) => stage)).toEqual([
      'a',
      'a',
    ]);
  });

  check('ensure of a handler returns busy, shouldDefer says defer, and using(trx) goes through', async () => {
    const ownership = await make({ busyWaitMs: 60 });
    const done = await ok(
      withTransitionLease(ownership, request, (held) =>
        opened.db.transaction().execute(async (trx) => {
          expect(await err(held.ensure(0))).toMatchObject(BUSY);
          expect(await ok(shouldDefer(ownership, 2))).toMatchObject({ defer: true, reason: 'store-failure' });
          await ok(held.using(trx).ensure(0));
          await ok(held.using(trx).updateStage('b'));
          return 'committed';
        }),
      ),
    );
    expect(done).toBe('committed');
    expect((await opened.db.selectFrom('tasks').select('stage').where('id', '=', 1).execute())[0]).toEqual({
      stage: 'b',
    });
  });

  check('waits for five seconds where nobody says otherwise', async () => {
    const ownership = await make({ clock });
    await opened.db.transaction().execute(async () => {
      let told: unknown;
      void err(acquireLease(ownership, request)).then((failure) => {
        told = failure;
      });
      await pass(4_950);
      expect(told).toBeUndefined();
      await pass(50);
      expect(told).toMatchObject(BUSY);
    });
  });

  check('a release and a write by a held lease wait for as long as the lease is trusted', async () => {
    const ownership = await make({ clock, busyWaitMs: 100 });
    const lease = await ok(acquireLease(ownership, request));
    const gone = await ok(acquireLease(ownership, other));
    const told: string[] = [];
    await opened.db.transaction().execute(async () => {
      const note = (name: string) => (result: { isOk(): boolean }) =>
        void told.push(`${name}: ${result.isOk() ? 'ok' : 'failed'}`);
      void releaseLease(ownership, gone).then(note('release'));
      void updateStageCas(ownership, { taskId: 1, expected: 'a', next: 'b', lease }).then(note('write'));
      await pass(700);
      expect(told).toEqual([]);
    });
    await settled();
    expect(told).toEqual(['release: ok', 'write: ok']);
    const fresh = await ok(acquireLease(ownership, other));
    await opened.db.transaction().execute(async () => {
      void updateStageCas(ownership, { taskId: 2, expected: 'a', next: 'b', lease: fresh }).then((result) => {
        told.push(result.isErr() && result.error.type === 'store-failure' ? result.error.kind : 'unexpected');
      });
      await pass(700);
      expect(told).toHaveLength(2);
      await pass(200);
      expect(told[2]).toBe('busy');
    });
  });
});

test('by libSQL, whose transactions have a connection of their own, a verb meets the lock and returns busy too', async () => {
  const opened = await ofContract(libsql).open();
  const { db } = opened;
  await sql`create table if not exists tasks (id integer primary key, stage text)`.execute(db);
  const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
  await ok(ensureSchema(ownership));
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('tasks').values({ id: 1, stage: 'a' }).execute();
    const { message: _, ...busy } = BUSY;
    expect(await err(acquireLease(ownership, request))).toMatchObject(busy);
  });
  await opened.close();
});

test('busyWaitMs is a duration like others', () => {
  const db = new Kysely<Tables>({ dialect: openSqlite(':memory:') });
  const make = (busyWaitMs: number) =>
    createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' }, busyWaitMs });
  for (const wrong of [0, -1, 1.5, Number.NaN, 366 * 24 * 60 * 60 * 1000]) {
    expect(() => make(wrong)).toThrow('busyWaitMs must be a whole number of milliseconds');
  }
});
