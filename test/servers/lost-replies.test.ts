import { sql } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  createTransitionOwnership,
  inspectLease,
  reclaimStaleLeases,
  releaseLease,
  releaseLeases,
  resetRunOwnership,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ContractProcess } from '../contract/process.js';
import { type Cut, openProxy, type Proxy } from './proxy.js';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

/** PostgreSQL says when it is ready for the next statement; MySQL has committed when it answers at all. */
const answered: Readonly<Record<string, (reply: Buffer) => boolean>> = {
  [postgresServer.name]: (reply) => reply.subarray(-6, -1).equals(Buffer.from([0x5a, 0, 0, 0, 5])),
  [mysqlServer.name]: () => true,
};

const INSERT = /insert (ignore )?into .transition_lease/;
const STAGE = /update .tasks. set .stage/;
const DELETE = /delete (from )?.transition_lease/;
const cuts: readonly Cut[] = ['before', 'after'];

function lostReplies(server: TestServer): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    let proxy: Proxy;
    beforeAll(async () => {
      place = await server.make('lost_replies');
      proxy = await openProxy(server.port, answered[server.name] ?? (() => false));
      await sql`create table jobs (id bigint not null primary key, task_id bigint, status varchar(20), run_id bigint,
        pid bigint, started_at varchar(40))`.execute(place.db);
    });
    beforeEach(async () => {
      proxy.recover();
      await place.reset();
    });
    afterAll(async () => {
      await proxy.close();
      await place.drop();
    });
    const start = (options: Parameters<Place['process']>[1] = {}): ContractProcess =>
      place.process({ port: proxy.port, max: 2 }, options);
    const claims = async (): Promise<readonly string[]> =>
      (
        await sql<{ claim: string }>`select claim from transition_lease order by fencing_token`.execute(place.db)
      ).rows.map(({ claim }) => claim);
    const stage = async (): Promise<string | null | undefined> =>
      (await place.db.selectFrom('tasks').select('stage').where('id', '=', 1).executeTakeFirst())?.stage;

    describe.each(cuts)('the connection breaks %s the server has the statement', (when) => {
      test('acquireLease: the claim tells, and the lease is granted once', async () => {
        const { ownership, told } = start();
        const cut = proxy.cut(INSERT, when);
        const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        await cut;
        expect(await claims()).toEqual([lease.claim]);
        expect(told('lease.acquired')).toHaveLength(1);
        expect(lease.signal.aborted).toBe(false);
        expect((await releaseLease(ownership, lease))._unsafeUnwrap()).toBe('released');
      });

      test('acquireLeases: each is granted once', async () => {
        const { ownership } = start();
        const cut = proxy.cut(INSERT, when);
        const requests = [1, 2, 3].map((taskId) => ({ taskId, actor: 'monitor' }));
        const { acquired, busy } = (await acquireLeases(ownership, requests))._unsafeUnwrap();
        await cut;
        expect(busy).toEqual([]);
        expect(await claims()).toEqual(acquired.map(({ claim }) => claim));
      });

      test('updateStageCas with a lease: the write is told as won', async () => {
        const { ownership, told } = start();
        const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        const cut = proxy.cut(STAGE, when);
        const moved = await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease });
        await cut;
        expect(moved._unsafeUnwrap()).toMatchObject({ from: 'deploy', to: 'done' });
        expect(await stage()).toBe('done');
        expect(told('stage.changed')).toHaveLength(1);
      });

      test('updateStageCas with a lease that it gives back: both are told, or neither is', async () => {
        const { ownership, told } = start();
        const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        const cut = proxy.cut(STAGE, when);
        const request = { taskId: 1, expected: 'deploy', next: 'done', lease, release: true };
        const moved = await updateStageCas(ownership, request);
        await cut;
        expect(moved._unsafeUnwrap()).toMatchObject({ to: 'done', released: true });
        expect(await stage()).toBe('done');
        expect(await claims()).toEqual([]);
        expect(told('lease.lost')).toEqual([]);
      });

      test('updateStageCas without a lease: nobody can tell, and nothing is sent again', async () => {
        const { ownership } = start();
        const cut = proxy.cut(STAGE, when);
        const moved = await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done' });
        await cut;
        expect(moved._unsafeUnwrapErr()).toMatchObject({
          type: 'store-failure',
          kind: 'connection',
          outcome: 'unknown',
        });
        expect(await stage()).toBe(when === 'after' ? 'done' : 'deploy');
      });

      test('releaseLease: the row is gone, and that is told', async () => {
        const { ownership } = start();
        const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        const cut = proxy.cut(DELETE, when);
        expect((await releaseLease(ownership, lease))._unsafeUnwrap()).toBe('released');
        await cut;
        expect(await claims()).toEqual([]);
      });

      test('releaseLeases: the rows are gone, and that is told', async () => {
        const { ownership } = start();
        const requests = [1, 2].map((taskId) => ({ taskId, actor: 'monitor' }));
        const { acquired } = (await acquireLeases(ownership, requests))._unsafeUnwrap();
        const cut = proxy.cut(DELETE, when);
        expect((await releaseLeases(ownership, acquired))._unsafeUnwrap()).toEqual(['released', 'released']);
        await cut;
        expect(await claims()).toEqual([]);
      });

      test('reclaimStaleLeases: the dead lease is gone, and that is told', async () => {
        const { ownership, told } = start();
        (await acquireLease(place.process().ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        await place.expire();
        const cut = proxy.cut(DELETE, when);
        const report = (await reclaimStaleLeases(ownership))._unsafeUnwrap();
        await cut;
        expect(report).toMatchObject({ reclaimed: [{ taskId: 1 }], kept: [] });
        expect(told('lease.reclaimed')).toHaveLength(1);
        expect(await claims()).toEqual([]);
        expect((await inspectLease(ownership, 1))._unsafeUnwrap()).toEqual({ state: 'free' });
      });

      test('withTransitionLease: the handler runs once', async () => {
        const { ownership } = start();
        let runs = 0;
        const broken = [proxy.cut(INSERT, when), proxy.cut(DELETE, when)];
        const done = await withTransitionLease(ownership, { taskId: 1, actor: 'monitor' }, () => {
          runs += 1;
          return 'applied';
        });
        await Promise.all(broken);
        expect(done._unsafeUnwrap()).toBe('applied');
        expect(runs).toBe(1);
        expect(await claims()).toEqual([]);
      });

      test('resetRunOwnership: the job is in the queue, or that is unknown', async () => {
        await sql`delete from jobs`.execute(place.db);
        await sql`insert into jobs values (1, 1, 'running', 7, 41, 'then')`.execute(place.db);
        const { db } = start();
        const ownership = createTransitionOwnership({
          db: db.withTables<{ jobs: Job }>(),
          timeFormat: 'iso',
          tasks: { table: 'tasks', id: 'id', stage: 'stage' },
          jobs: { ...JOBS, singleHost: true },
        });
        const cut = proxy.cut(/update .jobs. set/, when);
        const reset = await resetRunOwnership(ownership, { jobId: 1, expected: { runId: 7, pid: 41 } });
        await cut;
        const { rows } = await sql<{ status: string; run_id: unknown }>`select status, run_id from jobs`.execute(
          place.db,
        );
        if (reset.isErr()) expect(reset.error).toMatchObject({ type: 'store-failure', outcome: 'unknown' });
        else expect(reset.value).toEqual({ reset: [1], skipped: [] });
        if (reset.isOk() || when === 'after') expect(rows).toEqual([{ status: 'queued', run_id: null }]);
      });
    });

    test('updateStageCas: a commit whose reply is lost is settled by what is there', async () => {
      const { ownership } = start();
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const cut = proxy.cut(server.dialect.fusedRelease ? STAGE : /commit/i, 'after');
      const request = { taskId: 1, expected: 'deploy', next: 'done', lease, release: true };
      expect((await updateStageCas(ownership, request))._unsafeUnwrap()).toMatchObject({ released: true });
      await cut;
    });

    test('updateStageCas: what nobody can tell is unknown, and never a loss', async () => {
      const other = place.process();
      const takeOver = async (): Promise<void> => {
        if ((await claims()).length === 0) void (await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' }));
      };
      const { ownership, told } = start({ pause: takeOver });
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const cut = proxy.cut(server.dialect.fusedRelease ? STAGE : /commit/i, 'after');
      const request = { taskId: 1, expected: 'deploy', next: 'done', lease, release: true };
      const moved = await updateStageCas(ownership, request);
      await cut;
      if (moved.isErr()) expect(moved.error).toMatchObject({ type: 'store-failure', outcome: 'unknown' });
      expect(told('lease.lost')).toEqual([]);
      expect(await stage()).toBe('done');
    });

    test('acquireLease: a server that is gone starts no handler, and its orphan is taken back', async () => {
      const { ownership, told } = start();
      const lost = proxy.cut(INSERT, 'after').then(() => proxy.fail());
      let runs = 0;
      const failed = await withTransitionLease(ownership, { taskId: 1, actor: 'monitor' }, () => {
        runs += 1;
      });
      await lost;
      expect(failed._unsafeUnwrapErr()).toMatchObject({
        type: 'store-failure',
        kind: 'connection',
        outcome: 'unknown',
      });
      expect(runs).toBe(0);
      expect(await claims()).toHaveLength(1);
      proxy.recover();
      expect((await acquireLease(ownership, { taskId: 1, actor: 'monitor' })).isOk()).toBe(true);
      expect(told('lease.reclaimed')).toMatchObject([{ reason: 'orphaned' }]);
    });
  });
}

interface Job {
  id: number;
  task_id: number | null;
  status: 'queued' | 'running' | 'failed';
  run_id: number | null;
  pid: number | null;
  started_at: string | null;
}

const JOBS = {
  table: 'jobs',
  id: 'id',
  taskId: 'task_id',
  status: 'status',
  runId: 'run_id',
  pid: 'pid',
  startedAt: 'started_at',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
} as const;

lostReplies(postgresServer);
lostReplies(mysqlServer);
