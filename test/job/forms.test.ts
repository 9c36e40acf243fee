import { Kysely, sql } from 'kysely';
import {
  claimNextJob,
  createJobReaper,
  createTransitionOwnership,
  findImpossibleQueued,
  requeueRunningJobs,
  resetRunOwnership,
  sanitizeImpossibleQueued,
  stampRunOwnership,
  type TimeFormat,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { ok } from './proofs.js';
import { countingStore, type JobStore, mysqlStore, postgresStore, sqliteStore } from './stores.js';

const HOUR = 3_600_000;

interface Jobs<Id> {
  id: Id;
  task_id: number | null;
  status: string;
  run_id: Id | null;
  pid: number | null;
  started_at: unknown;
  available_at: unknown;
}

interface Tables<Id> {
  tasks: { id: number; stage: string };
  jobs: Jobs<Id>;
}

const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;
const jobs = {
  table: 'jobs',
  id: 'id',
  taskId: 'task_id',
  status: 'status',
  runId: 'run_id',
  pid: 'pid',
  startedAt: 'started_at',
  availableAt: 'available_at',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
  singleHost: true,
} as const;

/** A database with a table of jobs whose ids and instants are of these SQL types. */
async function open<Id>(store: JobStore, id: string, instant: string) {
  const opened = await store.open('forms');
  const db = new Kysely<Tables<Id>>({ dialect: opened.connect() });
  await sql
    .raw(
      `create table jobs (id ${id} primary key, task_id integer, status varchar(40), run_id ${id}, pid integer,
        started_at ${instant}, available_at ${instant})`,
    )
    .execute(db);
  const close = async (): Promise<void> => {
    await db.destroy();
    await opened.close();
  };
  return { db, [Symbol.asyncDispose]: close };
}

const someday = /^\d{4}-\d\d-\d\d/;
const formats = (
  [
    [sqliteStore, 'sqlite-text', 'text', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/],
    [sqliteStore, 'iso', 'text', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
    [sqliteStore, 'epoch-ms', 'integer', /^\d{13}$/],
    [sqliteStore, 'native', 'text', someday],
    [countingStore, 'sqlite-text', 'text', someday],
    [postgresStore, 'sqlite-text', 'text', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/],
    [postgresStore, 'iso', 'text', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
    [postgresStore, 'epoch-ms', 'bigint', /^\d{13}$/],
    [postgresStore, 'native', 'timestamptz', someday],
    [postgresStore, 'native', 'timestamptz(0)', someday],
    [postgresStore, 'native', 'timestamp', someday],
    [mysqlStore, 'sqlite-text', 'varchar(40)', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/],
    [mysqlStore, 'iso', 'varchar(40)', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
    [mysqlStore, 'epoch-ms', 'bigint', /^\d{13}$/],
    [mysqlStore, 'native', 'datetime(3)', someday],
    [mysqlStore, 'native', 'datetime', someday],
  ] satisfies [JobStore, TimeFormat, string, RegExp][]
).map(([store, timeFormat, instant, spelled]) => ({ name: store.name, store, timeFormat, instant, spelled }));

const texts = formats.filter(({ instant }) => /text|char/.test(instant));

describe.each(formats)('$name, instants as $timeFormat in a column of $instant', (form) => {
  const { store, timeFormat, instant, spelled } = form;
  const instantAt = (ms: number) => store.dialect.instant(timeFormat, sql<number>`${sql.lit(ms)}`);

  test.skipIf(store.missing !== undefined)('are written, compared and counted from', async () => {
    await using at = await open<number>(store, 'integer', instant);
    const { db } = at;
    const ownership = createTransitionOwnership({ db, dialect: store.dialect, tasks, jobs, timeFormat, mode: 'off' });
    const now = Date.now();
    for (const [id, due] of [
      [1, now + HOUR],
      [2, now - HOUR],
    ] as const) {
      await sql`insert into jobs (id, status, available_at) values (${id}, 'queued', ${instantAt(due)})`.execute(db);
    }
    const job = await ok(claimNextJob(ownership));
    if (job === null) throw new Error('no job');
    expect(job.jobId).toBe(2);
    expect(Math.abs(job.startedAtMs - Date.now())).toBeLessThan(60_000);
    const { rows } = await sql<{
      text: string;
    }>`select ${store.dialect.instantText('iso', sql.ref('started_at'))} as text from jobs where id = 2`.execute(db);
    expect(rows[0]?.text).toMatch(spelled);
    expect(await ok(claimNextJob(ownership))).toBeNull();
    expect(
      await ok(stampRunOwnership(ownership, { job: { ...job, started: `${job.started}0` }, runId: 7, pid: 77 })),
    ).toBe('superseded');
    expect(await ok(stampRunOwnership(ownership, { job, runId: 7, pid: 99_999_999 }))).toBe('stamped');

    const limits = { finalizeGraceMs: HOUR, maxRunningMs: 2 * HOUR };
    const reaper = createJobReaper(ownership, { ...limits, onDead: 'requeue' });
    expect(await ok(reaper.tick())).toMatchObject({ suspected: 1, reaped: 0 });
    await sql`update jobs set started_at = ${instantAt(now - 2 * HOUR + 60_000)} where id = 2`.execute(db);
    expect(await ok(reaper.tick())).toMatchObject({ suspected: 1, reaped: 0 });
    await sql`update jobs set started_at = ${instantAt(now - 2 * HOUR - 60_000)} where id = 2`.execute(db);
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1, forced: 1 });
    await sql`update jobs set started_at = ${instantAt(now)}, run_id = 7 where id = 2`.execute(db);
    expect(await ok(sanitizeImpossibleQueued(ownership))).toMatchObject({
      found: 1,
      sanitized: [{ jobId: 2, runId: 7 }],
    });
  });
});

describe.each(texts)('$name, instants as $timeFormat', ({ store, timeFormat, instant }) => {
  test.skipIf(store.missing !== undefined)('stop nothing where they cannot be read', async () => {
    await using at = await open<number>(store, 'integer', instant);
    const { db } = at;
    const ownership = createTransitionOwnership({ db, dialect: store.dialect, tasks, jobs, timeFormat, mode: 'off' });
    await sql`insert into jobs (id, status, available_at, started_at) values
      (1, 'queued', 'whenever', null), (2, 'queued', null, null), (3, 'running', null, 'once'), (4, 'queued', null, 'once')`.execute(
      db,
    );
    expect((await ok(claimNextJob(ownership)))?.jobId).toBe(2);
    const limits = { finalizeGraceMs: 0, maxRunningMs: HOUR };
    expect(await ok(createJobReaper(ownership, { ...limits, onDead: 'requeue' }).tick())).toMatchObject({
      examined: 2,
      starting: 2,
      sanitized: 1,
    });
    expect((await ok(requeueRunningJobs(ownership, { owners: 'all' }))).requeued).toMatchObject([
      { jobId: 2 },
      { jobId: 3, startedAt: 'once' },
    ]);
  });
});

describe.each([sqliteStore, countingStore, postgresStore, mysqlStore])('$name, ids', (store) => {
  const skipped = store.missing !== undefined;
  const instant = store.types.instant;

  test.skipIf(skipped)('of 64 bits are exact', async () => {
    await using at = await open<number | bigint | string>(store, 'bigint', instant);
    const { db } = at;
    const types = { taskIdType: 'integer', runIdType: 'bigint' } as const;
    const ownership = createTransitionOwnership({
      db,
      dialect: store.dialect,
      tasks,
      lease: types,
      jobs: { ...jobs, idType: 'bigint' },
      mode: 'off',
    });
    const [one, other, run] = [9_007_199_254_740_993n, 9_007_199_254_740_995n, 9_223_372_036_854_775_807n];
    await sql`insert into jobs (id, status) values (${sql.raw(String(one))}, 'queued'), (${sql.raw(String(other))}, 'queued')`.execute(
      db,
    );
    const job = await ok(claimNextJob(ownership));
    expect(job?.jobId).toBe(one);
    if (job === null) return;
    expect(await ok(stampRunOwnership(ownership, { job, runId: run, pid: 77 }))).toBe('stamped');
    const jobIds = [other, one, one + 1n];
    expect(await ok(resetRunOwnership(ownership, { jobIds, expected: { runId: run - 1n, pid: 77 } }))).toEqual({
      reset: [],
      skipped: jobIds,
    });
    expect(await ok(resetRunOwnership(ownership, { jobIds, expected: { runId: run, pid: 77 } }))).toEqual({
      reset: [one],
      skipped: [other, one + 1n],
    });
    await sql`update jobs set run_id = ${sql.raw(String(run))}`.execute(db);
    expect(await ok(findImpossibleQueued(ownership))).toMatchObject([
      { jobId: one, runId: run },
      { jobId: other, runId: run },
    ]);
    expect(await ok(sanitizeImpossibleQueued(ownership, { batchSize: 1 }))).toMatchObject({
      found: 2,
      sanitized: [{ jobId: one, runId: run }, { jobId: other }],
    });
  });

  test.skipIf(skipped)('of text, and statuses, are compared byte by byte', async () => {
    await using at = await open<string>(store, 'varchar(40)', instant);
    const { db } = at;
    const lease = { runIdType: 'text' } as const;
    const ownership = createTransitionOwnership({
      db,
      dialect: store.dialect,
      tasks,
      lease,
      jobs: { ...jobs, idType: 'text' },
      mode: 'off',
    });
    await sql`insert into jobs (id, status) values ('a', 'Queued'), ('b', 'queued'), ('666', 'queued ')`.execute(db);
    const job = await ok(claimNextJob(ownership));
    expect(job?.jobId).toBe('b');
    if (job === null) return;
    expect(await ok(claimNextJob(ownership))).toBeNull();
    expect(await ok(stampRunOwnership(ownership, { job: { ...job, jobId: 'B' }, runId: 'Run', pid: 77 }))).toBe(
      'superseded',
    );
    expect(await ok(stampRunOwnership(ownership, { job, runId: 'Run', pid: 77 }))).toBe('stamped');
    const jobIds = ['B', 'b ', 'b'];
    expect(await ok(resetRunOwnership(ownership, { jobIds, expected: { runId: 'run', pid: 77 } }))).toEqual({
      reset: [],
      skipped: jobIds,
    });
    expect(await ok(resetRunOwnership(ownership, { jobIds, expected: { runId: 'Run ', pid: 77 } }))).toEqual({
      reset: [],
      skipped: jobIds,
    });
    expect(await ok(resetRunOwnership(ownership, { jobIds, expected: { runId: 'Run', pid: 77 } }))).toEqual({
      reset: ['b'],
      skipped: ['B', 'b '],
    });
    expect(() => resetRunOwnership(ownership, { jobId: 666 as never, expected: 'any' })).toThrow(TypeError);
  });
});

test.skipIf(postgresStore.missing !== undefined)(
  'on PostgreSQL an instant without a zone is read in the zone in which it was written',
  async () => {
    await using at = await open<number>(postgresStore, 'integer', 'timestamp');
    const { db } = at;
    const ownership = createTransitionOwnership({ db, tasks, jobs, mode: 'off' });
    await sql`insert into jobs (id, status, available_at) values (1, 'queued', null)`.execute(db);
    await db.connection().execute(async (connection) => {
      await sql`set timezone = 'Asia/Tokyo'`.execute(connection);
      const job = await ok(claimNextJob(ownership.using(connection)));
      expect(Math.abs(Number(job?.startedAtMs) - Date.now())).toBeLessThan(60_000);
    });
  },
);
