import { sql } from 'kysely';
import { acquireLease, type Lease, releaseLease, updateStageCas, withTransitionLease } from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

const TIMES = { ttlMs: 3_000, renewEveryMs: 1_000 } as const;

/** Handlers that hold every connection of a small pool. */
function pools(server: TestServer): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('pools');
    });
    beforeEach(() => place.reset());
    afterAll(() => place.drop());

    describe.each([1, 2])('with a pool of %i', (max) => {
      const start = () => place.process({ max }, { lease: TIMES });
      const tasks = Array.from({ length: max }, (_, at) => at + 1);

      /** Holds a lease on each task; then every connection is in a transaction of a handler, all at one time. */
      const inTransactions = async (
        process: ReturnType<typeof start>,
        meanwhile: (leases: readonly Lease<number, string | null, number>[]) => Promise<void>,
      ): Promise<void> => {
        const leases = await Promise.all(
          tasks.map(async (taskId) =>
            (await acquireLease(process.ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap(),
          ),
        );
        const transactions = await Promise.all(tasks.map(() => process.db.startTransaction().execute()));
        await Promise.all(
          transactions.map(async (trx, at) => {
            const lease = leases[at];
            if (lease === undefined) return;
            const request = { taskId: lease.taskId, expected: 'deploy', next: 'done', lease };
            expect((await updateStageCas(process.ownership.using(trx), request)).isOk()).toBe(true);
          }),
        );
        await meanwhile(leases).finally(() => Promise.all(transactions.map((trx) => trx.commit().execute())));
      };

      test('renews after transactions that end in time, and loses nothing', async () => {
        const process = start();
        await inTransactions(process, async (leases) => {
          await process.time.advance(2_000);
          expect(leases.map(({ signal }) => signal.aborted)).toEqual(leases.map(() => false));
          expect(process.told('lease.renewed')).toEqual([]);
        });
        await process.until(() => process.told('lease.renewed').length >= max);
        expect(process.told('lease.lost')).toEqual([]);
      });

      test('tells a loss while transactions that are too long are still open', async () => {
        const process = start();
        await inTransactions(process, async (leases) => {
          await process.time.advance(2_600);
          expect(leases.map(({ signal }) => signal.aborted)).toEqual(leases.map(() => false));
          await process.time.advance(100);
          expect(process.told('lease.lost')).toMatchObject(leases.map(() => ({ reason: 'unverifiable' })));
          for (const { signal } of leases) expect(signal.reason).toMatchObject({ reason: 'unverifiable' });
        });
      });

      test('tells that a renewal was answered late', async () => {
        const process = start();
        await inTransactions(process, async () => {
          await process.time.advance(2_600);
        });
        await process.until(() => process.told('lease.renewed').length >= max);
        const [late, ...more] = process.told('lease.renewal-failed');
        expect(late).toMatchObject({ leases: max, message: 'The reply to a renewal came more than an interval late.' });
        expect(late?.lateMs).toBeGreaterThanOrEqual(600);
        expect(more).toEqual([]);
        expect(process.told('lease.lost')).toEqual([]);
      });

      test('runs handlers that take a transaction each, one after the other', async () => {
        const process = start();
        const runs = Array.from({ length: 6 }, (_, at) => 10 + at);
        const done = await Promise.all(
          runs.map(async (taskId) =>
            withTransitionLease(process.ownership, { taskId, actor: 'monitor', stage: 'deploy' }, async (held) => {
              await process.db.transaction().execute(async (trx) => {
                const request = { taskId, expected: 'deploy', next: 'done', lease: held };
                const moved = await updateStageCas(process.ownership.using(trx), request);
                expect(moved.isOk()).toBe(true);
              });
              return taskId;
            }),
          ),
        );
        expect(done.map((one) => one._unsafeUnwrap())).toEqual(runs);
        const { rows } = await sql<{ left: number }>`select count(*) as left_over from transition_lease`.execute(
          place.db,
        );
        expect(rows).toHaveLength(1);
      });

      test('acquires and releases beside a transaction of its own, if there is a connection left', async () => {
        const process = start();
        const trx = await process.db.startTransaction().execute();
        const asked = (async () => await acquireLease(process.ownership, { taskId: 1, actor: 'monitor' }))();
        if (max === 1) await trx.commit().execute();
        const lease = (await asked)._unsafeUnwrap();
        expect((await releaseLease(process.ownership, lease))._unsafeUnwrap()).toBe('released');
        if (max > 1) await trx.commit().execute();
      });
    });
  });
}

pools(postgresServer);
pools(mysqlServer);
