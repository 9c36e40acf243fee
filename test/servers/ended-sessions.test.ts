import { sql } from 'kysely';
import { acquireLease, releaseLease, updateStageCas, withTransitionLease } from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ContractProcess } from '../contract/process.js';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

const TIMES = { ttlMs: 3_000, renewEveryMs: 1_000 } as const;

/** An administrator ends sessions; the test runner fails on anything uncaught. */
function endedSessions(server: TestServer): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('ended');
    });
    beforeEach(() => place.reset());
    afterAll(() => place.drop());

    test('ended while idle: the next call goes over another session', async () => {
      const process = place.process({ max: 2 });
      const lease = (await acquireLease(process.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      await place.endSessions();
      const moved = await updateStageCas(process.ownership, { taskId: 1, expected: 'deploy', next: 'done', lease });
      expect(moved.isOk()).toBe(true);
      await place.endSessions();
      expect((await releaseLease(process.ownership, lease))._unsafeUnwrap()).toBe('released');
    });

    test('ended in a transaction: the verb says so, nothing was written, and the lease is held', async () => {
      const process = place.process({ max: 2 });
      const lease = (await acquireLease(process.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      let failure: unknown;
      const transaction = process.db.transaction().execute(async (trx) => {
        const inside = process.ownership.using(trx);
        const request = { taskId: 1, expected: 'deploy', next: 'done', lease };
        expect((await updateStageCas(inside, request)).isOk()).toBe(true);
        await place.endSessions();
        const again = await updateStageCas(inside, { ...request, expected: 'done', next: 'deploy' });
        failure = again._unsafeUnwrapErr();
        throw new Error('rolled back');
      });
      await expect(transaction).rejects.toThrow();
      expect(failure).toMatchObject({ type: 'store-failure', kind: 'connection' });
      const task = await place.db.selectFrom('tasks').select('stage').where('id', '=', 1).executeTakeFirst();
      expect(task).toEqual({ stage: 'deploy' });
      expect((await releaseLease(process.ownership, lease))._unsafeUnwrap()).toBe('released');
    });

    test('ended in a renewal: it is tried again, and the lease goes on', async () => {
      const process = place.process({ max: 2 }, { lease: TIMES });
      const lease = (await acquireLease(process.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const unlock = await place.lockLeases();
      await process.time.advance(1_000);
      await place.waiting(1);
      await place.endSessions();
      await unlock();
      await process.until(() => process.told('lease.renewed').length > 0);
      expect(lease.signal.aborted).toBe(false);
      expect(process.told('lease.lost')).toEqual([]);
    });

    test('ended under a handler: its work goes on, and its lease is given back', async () => {
      const process: ContractProcess = place.process({ max: 2 });
      const done = await withTransitionLease(
        process.ownership,
        { taskId: 1, actor: 'monitor', stage: 'deploy' },
        async (held) => {
          await place.endSessions();
          expect((await held.ensure(1_000)).isOk()).toBe(true);
          await place.endSessions();
          return held.updateStage('done');
        },
      );
      expect(done._unsafeUnwrap()).toMatchObject({ to: 'done' });
      expect((await sql`select * from transition_lease`.execute(place.db)).rows).toEqual([]);
    });
  });
}

endedSessions(postgresServer);
endedSessions(mysqlServer);
