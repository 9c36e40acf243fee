import { sql } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  claimNextJob,
  createTransitionOwnership,
  type EventType,
  releaseLease,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { err, ok } from '../rig/proofs.js';
import { type Cut, openProxy, type Proxy } from './proxy.js';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

interface Job {
  id: number;
  task_id: number | null;
  status: string;
  run_id: number | null;
  pid: number | null;
  started_at: Date | null;
}

const INSERT = /insert (ignore )?into .transition_lease/;
const STAGE = /update .tasks. set .stage/;
const DELETE = /delete from .transition_lease/;
const CLAIM = /update .jobs. (as .* )?set/;
const aborted = { type: 'not-granting', reason: 'aborted' };
const unknown = { type: 'store-failure', kind: 'busy', outcome: 'unknown', retryable: true };

function hungConnections(server: TestServer): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    let proxy: Proxy;
    beforeAll(async () => {
      place = await server.make('hung');
      proxy = await openProxy(server.port, () => true);
      const startedAt = sql.raw(server === postgresServer ? 'timestamptz' : 'datetime(3) null');
      await sql`create table jobs (id bigint not null primary key, task_id bigint, status varchar(20), run_id bigint,
        pid bigint, started_at ${startedAt})`.execute(place.db);
    });
    beforeEach(async () => {
      proxy.resume();
      await place.reset();
      await sql`delete from jobs`.execute(place.db);
    });
    afterAll(async () => {
      await proxy.close();
      await place.drop();
    });

    /** A process behind the proxy that has looked at everything before. */
    const start = async (max = 2) => {
      const emitted: EventType[] = [];
      const ownership = createTransitionOwnership({
        db: place.connect({ port: proxy.port, max }).withTables<{ jobs: Job }>(),
        tasks: { table: 'tasks', id: 'id', stage: 'stage' },
        jobs: {
          table: 'jobs',
          id: 'id',
          taskId: 'task_id',
          status: 'status',
          runId: 'run_id',
          pid: 'pid',
          startedAt: 'started_at',
          statuses: { queued: 'queued', running: 'running', failed: 'failed' },
        },
        onEvent: ({ type }) => void emitted.push(type),
      });
      await ok(releaseLease(ownership, await ok(acquireLease(ownership, { taskId: 50, actor: 'first' }))));
      await ok(claimNextJob(ownership));
      const until = async (type: EventType): Promise<void> => {
        while (!emitted.includes(type)) await new Promise((turned) => setImmediate(turned));
      };
      emitted.length = 0;
      return { ownership, emitted, until };
    };
    const left = async () => (await sql`select task_id from transition_lease`.execute(place.db)).rows;
    const stop = () => {
      const controller = new AbortController();
      return { signal: controller.signal, fire: () => controller.abort() };
    };

    describe.each<Cut>(['before', 'after'])('a connection that hangs %s the server has the statement', (when) => {
      test.each(['acquireLease', 'acquireLeases', 'withTransitionLease'] as const)(
        '%s resolves when its signal fires, and what comes late is given back',
        async (verb) => {
          const { ownership, until, emitted } = await start();
          const { signal, fire } = stop();
          const hung = proxy.hang(INSERT, when);
          const request = { taskId: 1, actor: 'monitor', signal };
          const asked = {
            acquireLease: () => err(acquireLease(ownership, request)),
            acquireLeases: () => err(acquireLeases(ownership, [request])),
            withTransitionLease: () => err(withTransitionLease(ownership, request, () => expect.unreachable())),
          }[verb]();
          await hung;
          fire();
          expect(await asked).toMatchObject(aborted);
          expect(emitted).not.toContain('lease.acquired');
          proxy.resume();
          while (
            (await left()).length > 0 ||
            !(await ok(acquireLeases(ownership, [{ taskId: 1, actor: 'next' }]))).acquired.length
          );
          await until('lease.acquired');
        },
      );

      test('updateStageCas resolves when its signal fires, and tells what comes late', async () => {
        const { ownership, until } = await start();
        const { signal, fire } = stop();
        const hung = proxy.hang(STAGE, when);
        const asked = err(updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', signal }));
        await hung;
        fire();
        expect(await asked).toMatchObject(unknown);
        proxy.resume();
        await until('stage.changed');
      });

      test('releaseLease resolves when its signal fires, and releases all the same', async () => {
        const { ownership, until } = await start();
        const lease = await ok(acquireLease(ownership, { taskId: 1, actor: 'monitor' }));
        const { signal, fire } = stop();
        const hung = proxy.hang(DELETE, when);
        const asked = err(releaseLease(ownership, lease, { signal }));
        await hung;
        fire();
        expect(await asked).toMatchObject(unknown);
        proxy.resume();
        await until('lease.released');
        expect(await left()).toEqual([]);
      });

      test('claimNextJob resolves when its signal fires, and what it claimed goes back', async () => {
        const { ownership, until } = await start();
        await sql`insert into jobs (id, status) values (1, 'queued')`.execute(place.db);
        const { signal, fire } = stop();
        const hung = proxy.hang(CLAIM, when);
        const asked = err(claimNextJob(ownership, { signal }));
        await hung;
        fire();
        expect(await asked).toMatchObject(unknown);
        proxy.resume();
        await until('job.requeued');
        expect((await sql`select status, started_at from jobs`.execute(place.db)).rows).toEqual([
          { status: 'queued', started_at: null },
        ]);
      });
    });

    test('without a signal the same verb waits for as long as the connection hangs', async () => {
      const { ownership } = await start();
      const hung = proxy.hang(STAGE, 'after');
      let isDone = false;
      const asked = ok(updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done' })).then(() => {
        isDone = true;
      });
      await hung;
      await ok(acquireLease(ownership, { taskId: 2, actor: 'other' }));
      expect(isDone).toBe(false);
      proxy.resume();
      await asked;
    });

    test('who waits for a connection sends nothing any more when its signal fires', async () => {
      const { ownership, emitted } = await start(1);
      const hung = proxy.hang(STAGE, 'after');
      const first = ok(updateStageCas(ownership, { taskId: 2, expected: 'deploy', next: 'done' }));
      await hung;
      const { signal, fire } = stop();
      const asked = [
        err(acquireLease(ownership, { taskId: 1, actor: 'monitor', signal })),
        err(updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', signal })),
        err(claimNextJob(ownership, { signal })),
      ];
      fire();
      const unsent = { type: 'store-failure', kind: 'busy', outcome: 'not-applied' };
      expect(await Promise.all(asked)).toMatchObject([aborted, unsent, unsent]);
      proxy.resume();
      await first;
      await ok(claimNextJob(ownership));
      expect(emitted.filter((type) => type === 'stage.changed')).toHaveLength(1);
      expect(await left()).toEqual([]);
    });
  });
}

hungConnections(postgresServer);
hungConnections(mysqlServer);
