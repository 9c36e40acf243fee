import { sql } from 'kysely';
import { acquireLease, updateStageCas } from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ok } from '../rig/proofs.js';
import { mysqlServer, type Place, postgresServer } from './server.js';

const request = { taskId: 1, actor: 'monitor', stage: 'deploy' } as const;

describe.each([postgresServer, mysqlServer])('under observe on $name', (server) => {
  describe.skipIf(server.missing !== undefined)('in a transaction of the caller’s', () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('observing');
    });
    beforeEach(() => place.reset());
    afterAll(() => place.drop());

    const rowOf = async () => {
      const { rows } = await sql<{ stage: string; note: string }>`select stage, note from tasks where id = 1`.execute(
        place.db,
      );
      return rows[0];
    };

    test('a lease table that is not there ends nothing: what was written commits, and the stage with it', async () => {
      const { db, ownership, told } = place.process({}, { mode: 'observe', lease: { table: 'no_such_lease' } });
      await db.transaction().execute(async (trx) => {
        await sql`update tasks set note = 'mine' where id = 1`.execute(trx);
        const lease = await ok(acquireLease(ownership.using(trx), request));
        expect(lease.guarded).toBe(false);
        const move = { taskId: 1, expected: 'deploy', next: 'done', lease, release: true } as const;
        expect(await ok(updateStageCas(ownership.using(trx), move))).toMatchObject({ to: 'done' });
      });
      expect(await rowOf()).toMatchObject({ stage: 'done', note: 'mine' });
      expect(told('would-refuse')).toMatchObject([{ failure: 'store-failure' }]);
    });

    test('a held task ends nothing either, and its owner is reported', async () => {
      const owner = place.process();
      const held = await ok(acquireLease(owner.ownership, request));
      const { db, ownership, told } = place.process({}, { mode: 'observe' });
      await db.transaction().execute(async (trx) => {
        const lease = await ok(acquireLease(ownership.using(trx), { ...request, actor: 'webhook' }));
        await ok(updateStageCas(ownership.using(trx), { taskId: 1, expected: 'deploy', next: 'done', lease }));
      });
      expect(await rowOf()).toMatchObject({ stage: 'done' });
      expect(told('would-refuse')).toMatchObject([
        { failure: 'lease-busy', holder: { fencingToken: held.fencingToken } },
      ]);
    });
  });
});
