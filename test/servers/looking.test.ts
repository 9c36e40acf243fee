import { sql, type Transaction } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  createTransitionOwnership,
  forceReleaseLease,
  inspectLease,
  releaseLease,
  shouldDefer,
  updateStageCas,
} from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ContractProcess } from '../contract/process.js';
import type { ContractTables } from '../contract/store.js';
import { err, ok } from '../rig/proofs.js';
import { mysqlServer, type Place, postgresServer } from './server.js';

type Ownership = ContractProcess['ownership'];

const levels = ['read committed', 'repeatable read', 'serializable'] as const;
const move = { taskId: 1, expected: 'deploy', next: 'done' } as const;

/** What somebody does who only looks at a held task, or loses it. */
const looks: Readonly<Record<string, (ownership: Ownership) => Promise<unknown>>> = {
  shouldDefer: (ownership) => ok(shouldDefer(ownership, 1)),
  inspectLease: (ownership) => ok(inspectLease(ownership, 1)),
  'a refused acquireLease': (ownership) => err(acquireLease(ownership, { taskId: 1, actor: 'reaper' })),
  'a refused acquireLeases': (ownership) => ok(acquireLeases(ownership, [{ taskId: 1, actor: 'reaper' }])),
  'an acquireLease of another stage': (ownership) =>
    err(acquireLease(ownership, { taskId: 1, actor: 'reaper', stage: 'done' })),
  'a refused updateStageCas': (ownership) => err(updateStageCas(ownership, move)),
  'a forceReleaseLease of another token': (ownership) =>
    err(forceReleaseLease(ownership, { taskId: 1, fencingToken: 999_999, by: 'me', reason: 'test' })),
};

describe.skipIf(mysqlServer.missing !== undefined)('MySQL', () => {
  let place: Place;
  beforeAll(async () => {
    place = await mysqlServer.make('looking');
  });
  beforeEach(() => place.reset());
  afterAll(() => place.drop());

  /** Whether somebody keeps a row of task 1 from its owner. */
  const isLocked = async (table: string, column: string): Promise<boolean> => {
    const trx = await place.connect({ max: 1 }).startTransaction().execute();
    try {
      await sql`select * from ${sql.table(table)} where ${sql.ref(column)} = 1 for update nowait`.execute(trx);
      return false;
    } catch (error) {
      expect(String(error)).toMatch(/nowait|lock wait timeout/i);
      return true;
    } finally {
      await trx.rollback().execute();
    }
  };
  const inTransaction = <T>(
    { db }: ContractProcess,
    level: (typeof levels)[number],
    work: (trx: Transaction<ContractTables>) => Promise<T>,
  ): Promise<T> => db.transaction().setIsolationLevel(level).execute(work);

  describe.each(levels)('in a transaction at %s', (level) => {
    test.each(Object.entries(looks))('%s locks nothing of the owner', async (_, look) => {
      const [owner, other] = [place.process(), place.process()];
      const lease = await ok(acquireLease(owner.ownership, { taskId: 1, actor: 'monitor' }));
      await inTransaction(other, level, async (trx) => {
        await sql`select count(*) from big_tasks`.execute(trx);
        await look(other.ownership.using(trx));
        expect(await isLocked('transition_lease', 'task_id')).toBe(false);
        expect(await isLocked('tasks', 'id')).toBe(false);
        await ok(updateStageCas(owner.ownership, { ...move, lease }));
        expect(await ok(releaseLease(owner.ownership, lease))).toBe('released');
      });
    });

    test('sees who took the task after its snapshot, and what it has done itself', async () => {
      const [owner, other] = [place.process(), place.process()];
      await inTransaction(other, level, async (trx) => {
        await sql`select count(*) from big_tasks`.execute(trx);
        const inside = other.ownership.using(trx);
        await ok(acquireLease(owner.ownership, { taskId: 1, actor: 'monitor' }));
        expect(await ok(shouldDefer(inside, 1))).toMatchObject({ defer: true, holder: { actor: 'monitor' } });
        const own = await ok(acquireLease(inside, { taskId: 2, actor: 'reaper' }));
        expect(await ok(inspectLease(inside, 2))).toMatchObject({ state: 'held', holder: { claim: own.claim } });
        expect(await ok(releaseLease(inside, own))).toBe('released');
        expect(await ok(inspectLease(inside, 2))).toEqual({ state: 'free' });
      });
    });
  });

  test('with the lock that makes a read see the latest commit, a look would keep the owner waiting', async () => {
    const { transactionLevel: _, ...blunt } = mysqlServer.dialect;
    const [owner, other] = [place.process(), place.process({}, { dialect: blunt })];
    await ok(acquireLease(owner.ownership, { taskId: 1, actor: 'monitor' }));
    await inTransaction(other, 'repeatable read', async (trx) => {
      await ok(shouldDefer(other.ownership.using(trx), 1));
      expect(await isLocked('transition_lease', 'task_id')).toBe(true);
    });
  });

  test('a look never ends a transaction whose snapshot is isolated, and a verb that does says so', async () => {
    const isolated = { begin: ['set session innodb_snapshot_isolation = on'] };
    const [owner, other] = [place.process(), place.process(isolated)];
    await inTransaction(other, 'repeatable read', async (trx) => {
      await sql`update tasks set note = 'mine' where id = 9`.execute(trx);
      await sql`select count(*) from transition_lease`.execute(trx);
      await ok(acquireLease(owner.ownership, { taskId: 1, actor: 'monitor' }));
      for (const look of Object.values(looks)) await look(other.ownership.using(trx));
    });
    expect((await sql`select note from tasks where id = 9`.execute(place.db)).rows).toEqual([{ note: 'mine' }]);

    await inTransaction(other, 'repeatable read', async (trx) => {
      await sql`select count(*) from tasks`.execute(trx);
      await ok(updateStageCas(owner.ownership, { taskId: 2, expected: 'deploy', next: 'done' }));
      const lost = await err(updateStageCas(other.ownership.using(trx), { taskId: 2, expected: 'deploy', next: 'x' }));
      expect(lost).toMatchObject({ type: 'store-failure', kind: 'serialization', transactionEnded: true });
    }).catch((error: unknown) => expect(String(error)).toMatch(/rolled back|Record has changed/));
  });

  const pooled = (level: string) => {
    const db = place.connect({ max: 3, begin: [`set session transaction isolation level ${level}`] });
    const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;
    return { db, ownership: createTransitionOwnership({ db, tasks, busyWaitMs: 3_000 }) };
  };
  /** Has every connection of a pool look at once. */
  const lookAllAtOnce = async (level: string) => {
    const { db, ownership } = pooled(level);
    const all = await Promise.all([1, 2, 3].map(() => db.startTransaction().execute()));
    const answers = await Promise.all(all.map((trx) => ok(shouldDefer(ownership.using(trx), 1))));
    await Promise.all(all.map((trx) => trx.commit().execute()));
    return answers;
  };

  test('transactions that have every connection of the pool look in themselves where they can', async () => {
    expect(await lookAllAtOnce('read committed')).toEqual(Array.from({ length: 3 }, () => ({ defer: false })));
  });

  test('elsewhere they wait for one more, and then defer', async () => {
    const deferred = { defer: true, reason: 'store-failure' };
    expect(await lookAllAtOnce('repeatable read')).toEqual(Array.from({ length: 3 }, () => deferred));
  });
});

describe.skipIf(postgresServer.missing !== undefined)('PostgreSQL', () => {
  test('a look that fails does not end the transaction, and a verb that does says so', async () => {
    const place = await postgresServer.make('looking');
    const { db, ownership } = place.process();
    const unlock = await place.lockLeases();
    await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = 10`.execute(trx);
      await sql`update tasks set note = 'mine' where id = 9`.execute(trx);
      expect(await ok(shouldDefer(ownership.using(trx), 1))).toMatchObject({ defer: true, reason: 'store-failure' });
      expect(await err(inspectLease(ownership.using(trx), 1))).not.toHaveProperty('transactionEnded');
    });
    expect((await sql`select note from tasks where id = 9`.execute(place.db)).rows).toEqual([{ note: 'mine' }]);
    const trx = await db.startTransaction().execute();
    await sql`set local lock_timeout = 10`.execute(trx);
    const failed = await err(acquireLease(ownership.using(trx), { taskId: 1, actor: 'reaper' }));
    expect(failed).toMatchObject({ type: 'store-failure', kind: 'busy', transactionEnded: true });
    await trx.rollback().execute();
    await unlock();
    await place.drop();
  });
});
