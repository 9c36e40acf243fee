import { sql } from 'kysely';
import { acquireLease, acquireLeases, updateStageCas, withTransitionLease } from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

const request = { taskId: 1, actor: 'webhook', stage: 'deploy' } as const;
const lost = { type: 'lost-race', taskId: 1, expected: 'deploy', actual: 'done' };
const levels = ['read committed', 'repeatable read', 'serializable'] as const;

/** Acquisitions that look at a task which somebody else is at. */
function acquisition(server: TestServer, begin: (level: string) => string): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('acquisition');
    });
    beforeEach(() => place.reset());
    afterAll(() => place.drop());

    describe.each(levels)('at %s', (level) => {
      const sessions = { begin: [begin(level)] };

      /** An owner in the middle of the commit that moves task 1 on and gives its lease back. */
      const finishing = async (): Promise<() => Promise<unknown>> => {
        const owner = place.process(sessions);
        const lease = (await acquireLease(owner.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        const trx = await owner.db.startTransaction().execute();
        const move = { taskId: 1, expected: 'deploy', next: 'done', lease, release: true };
        (await updateStageCas(owner.ownership.using(trx), move))._unsafeUnwrap();
        return () => trx.commit().execute();
      };

      test('nobody gets the stage that an owner leaves between the look and the insert', async () => {
        const commit = await finishing();
        const { ownership, told } = place.process(sessions);
        let called = 0;
        const asked = Promise.resolve(withTransitionLease(ownership, request, () => (called += 1)));
        await place.waiting(1);
        await commit();
        expect((await asked)._unsafeUnwrapErr()).toMatchObject(lost);
        expect([called, told('stage.race-lost').length, told('lease.acquired')]).toEqual([0, 1, []]);
        expect((await sql`select * from transition_lease`.execute(place.db)).rows).toEqual([]);
      });

      test('nor does one of many', async () => {
        const commit = await finishing();
        const { ownership } = place.process(sessions);
        const requests = [request, { taskId: 2, actor: 'webhook', stage: 'deploy' }];
        const asked = Promise.resolve(acquireLeases(ownership, requests));
        await place.waiting(1);
        await commit();
        const { acquired, busy, refused } = (await asked)._unsafeUnwrap();
        expect([acquired.map(({ taskId }) => taskId), busy]).toEqual([[2], []]);
        expect(refused).toMatchObject([lost]);
        expect((await sql`select task_id from transition_lease`.execute(place.db)).rows).toHaveLength(1);
      });

      test('nor does a transaction of the caller that began before', async () => {
        const { db, ownership } = place.process(sessions);
        await db
          .transaction()
          .execute(async (trx) => {
            await sql`select * from big_tasks`.execute(trx);
            await (await finishing())();
            const failure = (await acquireLease(ownership.using(trx), request))._unsafeUnwrapErr();
            expect(['lost-race', 'store-failure']).toContain(failure.type);
            if (failure.type === 'store-failure') expect(failure.kind).toBe('serialization');
          })
          .catch((error: unknown) => expect(String(error)).toMatch(/rolled back|serialize|Record has changed/));
        expect((await sql`select * from transition_lease`.execute(place.db)).rows).toEqual([]);
      });

      test('a task whose row somebody has locked is taken without a wait', async () => {
        const blocker = await place.connect({ max: 1 }).startTransaction().execute();
        await sql`update tasks set note = 'mine' where id = 1`.execute(blocker);
        const { ownership } = place.process(sessions);
        expect((await acquireLease(ownership, request)).isOk()).toBe(true);
        const { acquired } = (await acquireLeases(ownership, [{ taskId: 2, actor: 'a' }]))._unsafeUnwrap();
        expect(acquired).toHaveLength(1);
        expect(await place.waits()).toBe(0);
        await blocker.rollback().execute();
      });

      test('a transaction that has written the task itself takes it', async () => {
        const { db, ownership } = place.process(sessions);
        await db.transaction().execute(async (trx) => {
          await sql`update tasks set note = 'mine' where id = 1`.execute(trx);
          expect((await acquireLease(ownership.using(trx), request)).isOk()).toBe(true);
        });
      });
    });
  });
}

acquisition(postgresServer, (level) => `set default_transaction_isolation = '${level}'`);
acquisition(mysqlServer, (level) => `set session transaction isolation level ${level}`);

const look = postgresServer.dialect.secondLook;
const blind = [
  ['the second look', undefined],
  ['the lock that makes it see the latest commit', look && { ...look, lock: sql`` }],
] as const;

describe.skipIf(postgresServer.missing !== undefined)('PostgreSQL', () => {
  test.each(blind)('without %s grants the stage that an owner leaves meanwhile', async (_, secondLook) => {
    const place = await postgresServer.make('one_look');
    const owner = place.process();
    const lease = (await acquireLease(owner.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    const trx = await owner.db.startTransaction().execute();
    const move = { taskId: 1, expected: 'deploy', next: 'done', lease, release: true };
    (await updateStageCas(owner.ownership.using(trx), move))._unsafeUnwrap();
    const { ownership } = place.process({}, { dialect: { ...postgresServer.dialect, secondLook } });
    const asked = Promise.resolve(acquireLease(ownership, request));
    await place.waiting(1);
    await trx.commit().execute();
    expect((await asked).isOk()).toBe(true);
    await place.drop();
  });
});
