import { sql } from 'kysely';
import {
  acquireLease,
  type Dialect,
  inspectLease,
  reclaimStaleLeases,
  shouldDefer,
  snapshot,
  updateStageCas,
} from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ContractProcess } from '../contract/process.js';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

const TIMES = { ttlMs: 3_000, renewEveryMs: 1_000 } as const;

/** An UPDATE that takes its turn behind whoever has locked a row. */
const waiting: Pick<Dialect, 'updateUnlocked'> = {
  updateUnlocked: ({ table, assignments, condition }) => sql`update ${table} set ${assignments} where ${condition}`,
};

/** What an INSERT on MySQL would be with the usual upsert, which locks the other's row for itself. */
const upserting: Pick<Dialect, 'insertFree'> = {
  insertFree: ({ table, columns, rows, key: [{ column }] }) =>
    sql`insert into ${table} (${columns}) ${rows} on duplicate key update ${column} = ${table}.${column}`,
};

const level = mysqlServer.dialect.transactionLevel;
/** Takes every transaction for one that sees what is committed. */
const plainReads: Dialect = {
  ...mysqlServer.dialect,
  ...(level && { transactionLevel: { ...level, seesLatest: () => true } }),
};

function locks(server: TestServer): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('locks');
    });
    beforeEach(() => place.reset());
    afterAll(() => place.drop());

    /** Leases on tasks 1, 2 and 3, the row of the first locked by somebody's open transaction. */
    const holdThree = async (dialect: Dialect = server.dialect) => {
      const process = place.process({}, { lease: TIMES, dialect });
      const leases = [];
      for (const taskId of [1, 2, 3]) {
        leases.push((await acquireLease(process.ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap());
      }
      const trx = await place.connect({ max: 1 }).startTransaction().execute();
      await sql`select * from transition_lease where task_id = 1 for update`.execute(trx);
      return { process, leases, unlock: () => trx.commit().execute() };
    };
    const renewedTasks = (process: ContractProcess) =>
      new Set(process.told('lease.renewed').map(({ taskId }) => taskId));

    test('a renewal passes over a row that somebody has locked, and comes back to it', async () => {
      const { process, leases, unlock } = await holdThree();
      await process.time.advance(1_000);
      await process.until(() => renewedTasks(process).size >= 2);
      expect(renewedTasks(process)).toEqual(new Set([2, 3]));
      expect(process.told('lease.lost')).toEqual([]);
      await unlock();
      await process.time.advance(700);
      await process.until(() => renewedTasks(process).has(1));
      expect(leases.map(({ signal }) => signal.aborted)).toEqual([false, false, false]);
    });

    test('a renewal that waited would keep all leases waiting', async () => {
      const { process, unlock } = await holdThree({ ...server.dialect, ...waiting });
      await process.time.advance(1_000);
      await place.waiting(1);
      expect(renewedTasks(process)).toEqual(new Set());
      await unlock();
      await process.until(() => renewedTasks(process).size === 3);
    });

    test('a lease whose row stays locked is told as lost before others may take it', async () => {
      const { process, leases, unlock } = await holdThree();
      await process.time.advance(1_000);
      await process.until(() => renewedTasks(process).size >= 2);
      await process.time.advance(1_700);
      expect(process.told('lease.lost')).toMatchObject([{ taskId: 1, reason: 'unverifiable' }]);
      expect(leases[0]?.signal.aborted).toBe(true);
      await unlock();
    });

    test('nobody is kept waiting by an owner who writes in an open transaction', async () => {
      const owner = place.process();
      const other = place.process();
      const lease = (await acquireLease(owner.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      await owner.db.transaction().execute(async (trx) => {
        const request = { taskId: 1, expected: 'deploy', next: 'done', lease };
        expect((await updateStageCas(owner.ownership.using(trx), request)).isOk()).toBe(true);
        const busy = await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' });
        expect(busy._unsafeUnwrapErr()).toMatchObject({ type: 'lease-busy', holder: { claim: lease.claim } });
        expect((await inspectLease(other.ownership, 1))._unsafeUnwrap()).toMatchObject({ state: 'held' });
        expect((await reclaimStaleLeases(other.ownership))._unsafeUnwrap()).toMatchObject({ kept: [{ taskId: 1 }] });
      });
    });

    test('readers see what is committed, and never wait for what is not', async () => {
      const owner = place.process();
      const other = place.process();
      const lease = (await acquireLease(owner.ownership, { taskId: 2, actor: 'monitor' }))._unsafeUnwrap();
      await owner.db.transaction().execute(async (trx) => {
        const inside = owner.ownership.using(trx);
        (await acquireLease(inside, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        await sql`delete from transition_lease where task_id = 2`.execute(trx);
        expect((await inspectLease(other.ownership, 1))._unsafeUnwrap()).toEqual({ state: 'free' });
        expect((await shouldDefer(other.ownership, 1))._unsafeUnwrap()).toEqual({ defer: false });
        expect((await inspectLease(other.ownership, 2))._unsafeUnwrap()).toMatchObject({
          holder: { claim: lease.claim },
        });
        expect((await snapshot(other.ownership))._unsafeUnwrap().leases).toMatchObject([{ taskId: 2 }]);
      });
    });

    test('one of those who wait for an insert that is rolled back gets the lease', async () => {
      const first = place.process();
      const others = [place.process(), place.process(), place.process()];
      const trx = await first.db.startTransaction().execute();
      (await acquireLease(first.ownership.using(trx), { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const asked = others.map(async ({ ownership }) => await acquireLease(ownership, { taskId: 1, actor: 'reaper' }));
      await place.waiting(3);
      await trx.rollback().execute();
      const answers = await Promise.all(asked);
      expect(answers.filter((answer) => answer.isOk())).toHaveLength(1);
      for (const answer of answers) if (answer.isErr()) expect(answer.error).toMatchObject({ type: 'lease-busy' });
    });
  });
}

locks(postgresServer);
locks(mysqlServer);

describe.skipIf(mysqlServer.missing !== undefined)('MySQL', () => {
  let place: Place;
  beforeAll(async () => {
    place = await mysqlServer.make('locks_more');
  });
  beforeEach(() => place.reset());
  afterAll(() => place.drop());

  test('with the usual upsert, who asks would wait for an owner who writes in an open transaction', async () => {
    const owner = place.process();
    const other = place.process({}, { dialect: { ...mysqlServer.dialect, ...upserting } });
    const lease = (await acquireLease(owner.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    const trx = await owner.db.startTransaction().execute();
    const request = { taskId: 1, expected: 'deploy', next: 'done', lease };
    expect((await updateStageCas(owner.ownership.using(trx), request)).isOk()).toBe(true);
    const asked = (async () => await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' }))();
    await place.waiting(1);
    await trx.commit().execute();
    expect((await asked)._unsafeUnwrapErr()).toMatchObject({ type: 'lease-busy' });
  });

  test('gives up on a row that somebody keeps locked, after few waits of the server', async () => {
    const owner = place.process();
    const trx = await owner.db.startTransaction().execute();
    (await acquireLease(owner.ownership.using(trx), { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    const sessions = { begin: ['set innodb_lock_wait_timeout = 1'] };
    let pauses = 0;
    const other: ContractProcess = place.process(sessions, {
      pause: async () => {
        pauses += 1;
        other.time.freeze(6_000);
      },
    });
    const busy = await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' });
    await trx.rollback().execute();
    expect(busy._unsafeUnwrapErr()).toMatchObject({ type: 'store-failure', kind: 'busy', outcome: 'not-applied' });
    expect(pauses).toBe(2);
  });

  /** A transaction that has looked at the database before another process took the lease. */
  const loseBehindSnapshot = async (dialect: Dialect) => {
    const late = place.process({}, { dialect });
    const owner = place.process();
    return late.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (trx) => {
        await sql`select count(*) from transition_lease`.execute(trx);
        const lease = (await acquireLease(owner.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        const moved = await updateStageCas(owner.ownership, { taskId: 1, expected: 'deploy', next: 'done', lease });
        expect(moved.isOk()).toBe(true);
        const busy = (await acquireLease(late.ownership.using(trx), { taskId: 1, actor: 'reaper' }))._unsafeUnwrapErr();
        const raced = await updateStageCas(late.ownership.using(trx), {
          taskId: 1,
          expected: 'deploy',
          next: 'done',
          evenIfHeld: true,
        });
        return { lease, busy, raced: raced._unsafeUnwrapErr() };
      });
  };

  test('in an old snapshot, tells who holds the task now and what its stage is now', async () => {
    const { lease, busy, raced } = await loseBehindSnapshot(mysqlServer.dialect);
    expect(busy).toMatchObject({ type: 'lease-busy', holder: { claim: lease.claim } });
    expect(raced).toMatchObject({ type: 'lost-race', expected: 'deploy', actual: 'done' });
  });

  test('in an old snapshot, a plain read would tell of neither', async () => {
    const { busy, raced } = await loseBehindSnapshot(plainReads);
    expect(busy).toMatchObject({ type: 'lease-busy', holder: null });
    expect(raced).toMatchObject({ type: 'lost-race', expected: 'deploy', actual: 'deploy' });
  });
});
