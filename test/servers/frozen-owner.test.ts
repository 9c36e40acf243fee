import { sql } from 'kysely';
import {
  acquireLease,
  createJobReaper,
  createTransitionOwnership,
  type Dialect,
  forceReleaseLease,
  inspectLease,
  reclaimStaleLeases,
  recoverOnStartup,
  updateStageCas,
} from 'transition-ownership';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { err, ok } from '../rig/proofs.js';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

interface Job {
  id: number;
  task_id: number | null;
  status: string;
  run_id: number | null;
  pid: number | null;
  started_at: Date | null;
}

/** A DELETE that takes its turn behind whoever has locked a row. */
const waiting: Pick<Dialect, 'deleteUnlocked'> = {
  deleteUnlocked: ({ table, condition, returning }) => sql`delete from ${table} where ${condition} ${returning}`,
};

function frozenOwner(server: TestServer): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('frozen_owner');
      await sql`create table jobs (id bigint not null primary key, task_id bigint, status varchar(20), run_id bigint,
        pid bigint, started_at ${sql.raw(server === postgresServer ? 'timestamptz' : 'datetime(3) null')})`.execute(
        place.db,
      );
    });
    let ends: (() => Promise<void>)[] = [];
    beforeEach(() => place.reset());
    afterEach(async () => {
      await Promise.all(ends.map((end) => end()));
      ends = [];
    });
    afterAll(() => place.drop());

    const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;
    const jobs = {
      table: 'jobs',
      id: 'id',
      taskId: 'task_id',
      status: 'status',
      runId: 'run_id',
      pid: 'pid',
      startedAt: 'started_at',
      statuses: { queued: 'queued', running: 'running', failed: 'failed' },
      singleHost: true,
    } as const;

    /** Another process, in real time, which knows of no other process. */
    const start = (options: { readonly busyWaitMs?: number; readonly dialect?: Dialect } = {}) => {
      const db = place.connect({ max: 2 }).withTables<{ jobs: Job }>();
      const identity = { bootId: 'other', pid: 999_999, start: 'other', host: 'another-host' };
      return createTransitionOwnership({ db, tasks, jobs, identity, registry: new Map(), ...options });
    };

    /** Rolls a transaction back, once. */
    const ending = (trx: { rollback(): { execute(): Promise<void> } }) => {
      let ended: Promise<void> | undefined;
      const end = (): Promise<void> => (ended ??= trx.rollback().execute());
      ends.push(end);
      return end;
    };

    /** The lease of task 1, over by its times, whose owner is frozen behind a write in an open transaction. */
    const freeze = async () => {
      const owner = place.process();
      const lease = await ok(acquireLease(owner.ownership, { taskId: 1, actor: 'monitor' }));
      await place.expire();
      const trx = await owner.db.startTransaction().execute();
      await ok(updateStageCas(owner.ownership.using(trx), { taskId: 1, expected: 'deploy', next: 'done', lease }));
      return { lease, thaw: ending(trx) };
    };

    test('nobody waits for the row of a frozen owner, and all are told', async () => {
      const { lease, thaw } = await freeze();
      const gone = await ok(acquireLease(place.process().ownership, { taskId: 2, actor: 'gone' }));
      await sql`update transition_lease set expires_ms = expires_ms - 10000000 where task_id = 2`.execute(place.db);
      const other = start();

      expect(await err(acquireLease(other, { taskId: 1, actor: 'reaper' }))).toMatchObject({
        type: 'lease-busy',
        reason: 'locked',
        holder: { claim: lease.claim },
      });
      const order = { taskId: 1, fencingToken: lease.fencingToken ?? 0, by: 'me', reason: 'test' };
      const refused = await err(forceReleaseLease(other, order));
      expect(refused).toMatchObject({ type: 'store-failure', kind: 'busy', outcome: 'not-applied', retryable: true });
      expect(refused.message).toMatch(/has the row of monitor \(token \d+, pid \d+\) locked.*: (pid|connection) \d+/);

      const report = await ok(reclaimStaleLeases(other));
      expect(report).toMatchObject({ reclaimed: [{ claim: gone.claim }], skipped: [{ claim: lease.claim }] });
      const recovered = await ok(recoverOnStartup(other, { jobs: 'dead-only' }));
      expect(recovered).toMatchObject({ transitions: [{ taskId: 1, lease: { claim: lease.claim } }] });
      const dead = { id: 1, task_id: 1, status: 'running', pid: 2 ** 22 + 1, started_at: '2020-01-01 00:00:00' };
      await place.db.withTables<{ jobs: typeof dead }>().insertInto('jobs').values(dead).execute();
      const reaper = createJobReaper(other, {
        deadTicks: 1,
        finalizeGraceMs: 0,
        maxRunningMs: 3_600_000,
        onDead: 'requeue',
      });
      expect(await ok(reaper.tick())).toMatchObject({ outcomes: [{ outcome: 'reaped' }] });
      expect(await place.waits()).toBe(0);

      await thaw();
      const taken = await ok(acquireLease(other, { taskId: 1, actor: 'reaper' }));
      expect(taken.guarded).toBe(true);
    });

    test('a DELETE that waited would wait for as long as the owner is frozen', async () => {
      const { thaw } = await freeze();
      const other = start({ dialect: { ...server.dialect, ...waiting } });
      const asked = Promise.resolve(acquireLease(other, { taskId: 1, actor: 'reaper' }));
      await place.waiting(1);
      await thaw();
      expect((await asked).isOk()).toBe(true);
    });

    /** Somebody's row of task 1, which is not committed. */
    const begin = async () => {
      const { db, ownership } = place.process();
      const trx = await db.startTransaction().execute();
      await ok(acquireLease(ownership.using(trx), { taskId: 1, actor: 'monitor' }));
      return { undo: ending(trx) };
    };
    const leasesLeft = async (): Promise<number> =>
      (await sql`select 1 from transition_lease`.execute(place.db)).rows.length;

    test('an INSERT behind an uncommitted row is waited for within bounds, and given back when it comes', async () => {
      const { undo } = await begin();
      const other = start({ busyWaitMs: 60 });
      expect(await err(acquireLease(other, { taskId: 1, actor: 'reaper' }))).toMatchObject({
        type: 'store-failure',
        kind: 'busy',
        retryable: true,
      });
      await undo();
      while ((await place.waits()) > 0 || (await leasesLeft()) > 0);
      await ok(acquireLease(other, { taskId: 1, actor: 'reaper' }));
    });

    test('who gave up waiting leaves no connection of the pool behind', async () => {
      await begin();
      const other = start({ busyWaitMs: 60 });
      const request = { taskId: 1, actor: 'reaper' };
      const all = await Promise.all([1, 2, 3, 4].map(() => err(acquireLease(other, request))));
      for (const failure of all) expect(failure).toMatchObject({ type: 'store-failure', kind: 'busy' });
      // The transaction in their way is still open.
      while ((await place.waits()) > 0);
      expect(await ok(inspectLease(other, 1))).toEqual({ state: 'free' });
      // On MySQL whoever waited may have left the gap beside the row locked by the transaction in their way.
      if (server === postgresServer) await ok(acquireLease(other, { taskId: 2, actor: 'reaper' }));
    });

    test('without a bound of the server it would keep one each', async () => {
      const { undo } = await begin();
      const unbounded: Dialect = { ...server.dialect, boundWait: (insert) => insert };
      const other = start({ busyWaitMs: 60, dialect: unbounded });
      await Promise.all([1, 2].map(() => err(acquireLease(other, { taskId: 1, actor: 'reaper' }))));
      let isDone = false;
      const asked = ok(acquireLease(other, { taskId: 2, actor: 'reaper' })).then(() => {
        isDone = true;
      });
      expect(await place.waits()).toBe(2);
      expect(isDone).toBe(false);
      await undo();
      await asked;
    });

    test('the signal of its request ends that wait at once', async () => {
      const { undo } = await begin();
      const other = start();
      const stop = new AbortController();
      const asked = Promise.resolve(acquireLease(other, { taskId: 1, actor: 'reaper', signal: stop.signal }));
      await place.waiting(1);
      stop.abort();
      expect((await asked)._unsafeUnwrapErr()).toMatchObject({ type: 'not-granting', reason: 'aborted' });
      await undo();
      while ((await place.waits()) > 0 || (await leasesLeft()) > 0);
    });

    test('in a transaction of the caller it is given back before that goes on', async () => {
      const { undo } = await begin();
      const db = place.connect({ max: 1 });
      const ownership = createTransitionOwnership({ db, tasks, busyWaitMs: 60 });
      const trx = await db.startTransaction().execute();
      await sql`update tasks set note = 'mine' where id = 9`.execute(trx);
      const failed = await err(acquireLease(ownership.using(trx), { taskId: 1, actor: 'reaper' }));
      expect(failed).toMatchObject({ type: 'store-failure', kind: 'busy' });
      const committed = trx.commit().execute();
      await undo();
      await committed;
      expect(await leasesLeft()).toBe(0);
      expect((await sql`select note from tasks where id = 9`.execute(place.db)).rows).toEqual([{ note: 'mine' }]);
    });

    test('a lease that was over before its INSERT came is granted with all its time', async () => {
      const { undo } = await begin();
      const { ownership, time } = place.process({}, { lease: { ttlMs: 3_000, renewEveryMs: 1_000 } });
      const asked = Promise.resolve(acquireLease(ownership, { taskId: 1, actor: 'reaper' }));
      await place.waiting(1);
      time.freeze(3_000);
      await undo();
      const lease = (await asked)._unsafeUnwrap();
      expect(lease.signal.aborted).toBe(false);
      time.freeze(2_600);
      expect(lease.signal.aborted).toBe(false);
    });
  });
}

frozenOwner(postgresServer);
frozenOwner(mysqlServer);
