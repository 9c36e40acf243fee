import { sql } from 'kysely';
import {
  claimNextJob,
  createJobReaper,
  findImpossibleQueued,
  recoverOnStartup,
  requeueRunningJobs,
  sanitizeImpossibleQueued,
} from 'transition-ownership';
import { expect } from 'vitest';
import { ok, type Proofs } from './proofs.js';
import type { Yard } from './yard.js';

const INEXACT = 2 ** 53;
const unread = { kind: 'schema', message: expect.stringContaining('Column job:id must hold an id') as string };

const EXACT = ['-9007199254740993', '9007199254740993', '9007199254740995'];

/** Puts a job there whose id is no number of JavaScript's. */
async function putExact(yard: Yard, id: string, status: 'queued' | 'running', startedAtMs?: number): Promise<void> {
  await yard.put({
    id: 77_000,
    status,
    ...(startedAtMs !== undefined && { run_id: 7, pid: 77, started_at: startedAtMs }),
  });
  await sql`update jobs set id = ${sql.raw(id)} where id = 77000`.execute(yard.outside);
}

/** The jobs whose ids are no numbers of JavaScript's. */
async function statuses(yard: Yard): Promise<readonly (readonly [string, string])[]> {
  const text = yard.store.dialect.readId('bigint', sql.ref('id'));
  const { rows } = await sql<{ key: string; status: string }>`select ${text} as ${sql.ref('key')}, status from jobs
    where id not between -9007199254740991 and 9007199254740991 order by id`.execute(yard.outside);
  return rows.map(({ key, status }) => [key, status]);
}

export const inexact: Proofs = {
  'claimNextJob never takes such a job, whatever it is ordered by, and takes the others': async (yard) => {
    const ownership = yard.start('a').own();
    for (const id of EXACT) await putExact(yard, id, 'queued');
    await yard.put({ id: 5 });
    await yard.put({ id: 9_007_199_254_740_991 });
    await yard.put({ id: -9_007_199_254_740_991 });
    const next = async () =>
      (await ok(claimNextJob(ownership, { orderBy: { column: 'id', direction: 'desc' } })))?.jobId;
    expect([await next(), await next(), await next()]).toEqual([9_007_199_254_740_991, 5, -9_007_199_254_740_991]);
    expect(await ok(claimNextJob(ownership))).toBeNull();
    expect(await statuses(yard)).toEqual(EXACT.map((id) => [id, 'queued']));
  },

  'every report counts such jobs and is not complete, and the reaper reports those past its bound': async (yard) => {
    const worker = yard.start('a');
    const ownership = worker.own();
    const [least, ...others] = EXACT;
    for (const id of others) await putExact(yard, id, 'running', yard.nowMs - 3_600_001);
    if (least !== undefined) await putExact(yard, least, 'queued');
    await yard.put({ id: 1, run_id: 7 });
    const found = await ok(findImpossibleQueued(ownership));
    expect(found).toMatchObject([{ jobId: 1 }]);
    expect(worker.told('store.failed').map(({ message }) => message)).toEqual([
      expect.stringContaining(`Column job:id must hold an id of type integer, and holds "${least}"`),
    ]);

    const dry = await ok(recoverOnStartup(ownership, { jobs: 'all', dryRun: true }));
    expect(dry).toMatchObject({
      unreadable: 3,
      complete: false,
      jobs: { unreadable: 2 },
      sanitized: { unreadable: 1 },
    });
    const requeued = await ok(requeueRunningJobs(ownership, { owners: 'all' }));
    expect(requeued).toMatchObject({ requeued: [], skipped: [], unreadable: 2, complete: false });
    const options = { finalizeGraceMs: 0, maxRunningMs: 3_600_000, onDead: 'requeue' } as const;
    const report = await ok(createJobReaper(ownership, options).tick());
    expect(report).toMatchObject({ examined: 0, sanitized: 1, unreadable: 3, complete: false });
    expect(worker.told('job.reap-failed').map(({ jobId, message }) => [jobId, message])).toEqual(
      others.map((id): unknown[] => [
        id,
        expect.stringContaining('it has run for 3600001 ms, longer than maxRunningMs 3600000'),
      ]),
    );
    expect(await ok(sanitizeImpossibleQueued(ownership))).toMatchObject({ found: 0, unreadable: 1, complete: false });
  },

  'a walk goes on behind a page of nothing else': async (yard) => {
    const ownership = yard.start('a').own();
    for (const id of ['-9007199254740995', '-9007199254740993', '-9007199254740992'])
      await putExact(yard, id, 'queued');
    for (const id of [1, 2]) await yard.put({ id, run_id: 7 });
    for (const id of ['9007199254740993', '9007199254740995']) await putExact(yard, id, 'queued');
    const sanitized = await ok(sanitizeImpossibleQueued(ownership, { batchSize: 1 }));
    expect(sanitized).toMatchObject({ sanitized: [{ jobId: 1 }, { jobId: 2 }], unreadable: 5 });
  },

  'a job of a task that cannot be named is not claimed, and not taken for one without a task': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ id: 1 });
    await sql`update jobs set task_id = ${sql.raw('9007199254740993')} where id = 1`.execute(yard.outside);
    expect(await ok(claimNextJob(worker.own()))).toBeNull();
    await yard.set(1, { status: 'running', run_id: 7, pid: 77, host: 'here', started_at: yard.nowMs });
    expect(await ok(requeueRunningJobs(worker.own(), { owners: 'all' }))).toMatchObject({
      requeued: [],
      unreadable: 1,
    });
    expect(worker.told('store.failed')).toMatchObject([
      { message: expect.stringContaining('Column job:task must hold an id of type integer, or null') as string },
    ]);
  },

  'a job of a run that cannot be named is not taken for one without a run': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ status: 'running', pid: 77, host: 'here', started_at: yard.nowMs });
    await sql`update jobs set run_id = ${sql.raw('9007199254740993')} where id = 1`.execute(yard.outside);
    expect(await ok(requeueRunningJobs(worker.own(), { owners: 'all' }))).toMatchObject({
      requeued: [],
      skipped: [],
      unreadable: 1,
    });
    expect((await yard.jobs()).map(({ status }) => status)).toEqual(['running']);
  },

  'a tick of the reaper tells it, and reaps the others': async (yard) => {
    const worker = yard.start('a');
    const dead = { status: 'running', run_id: 7, pid: 77, host: 'here', pid_start: 'start-77' } as const;
    for (const id of [1, INEXACT, INEXACT + 2]) await yard.put({ ...dead, id, started_at: yard.nowMs - 60_000 });
    const ownership = worker.own({ lease: { maxHoldMs: 3_600_000 } });
    const reaper = createJobReaper(ownership, { finalizeGraceMs: 0, maxRunningMs: 3_600_000, onDead: 'requeue' });
    await ok(reaper.tick());
    expect(await ok(reaper.tick())).toMatchObject({ examined: 1, reaped: 1, outcomes: [{ jobId: 1 }] });
    expect(worker.told('store.failed')).toMatchObject([unread, unread, unread, unread]);
  },

  'sanitizeImpossibleQueued tells it, and repairs the others': async (yard) => {
    const worker = yard.start('a');
    for (const id of [1, 2, INEXACT]) await yard.put({ id, run_id: 7, pid: 77 });
    const { sanitized } = await ok(sanitizeImpossibleQueued(worker.own()));
    expect(sanitized).toMatchObject([{ jobId: 1 }, { jobId: 2 }]);
    expect(worker.told('store.failed')).toMatchObject([unread]);
  },
};

export const untyped: Proofs = {
  'an id of another storage class is not claimed and is counted, behind all others too': async (yard) => {
    const ownership = yard.start('a').own();
    for (const id of [sql.lit('7'), sql.lit(1.5), sql.lit(8), sql`x'07'`, sql.lit('seven')])
      await sql`insert into jobs (id, status, attempts, run_id) values (${id}, 'queued', 0, 7)`.execute(yard.outside);
    for (const batchSize of [1, 2, 500]) {
      const report = await ok(sanitizeImpossibleQueued(ownership, { batchSize, dryRun: true }));
      expect(report).toMatchObject({ found: 1, complete: false });
      expect(report.unreadable).toBeGreaterThan(0);
    }
    expect(await ok(sanitizeImpossibleQueued(ownership))).toMatchObject({ found: 1, unreadable: 4 });
    expect((await ok(claimNextJob(ownership)))?.jobId).toBe(8);
    expect(await ok(claimNextJob(ownership))).toBeNull();
  },
};
