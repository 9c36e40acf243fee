import { sql } from 'kysely';
import {
  acquireLease,
  claimNextJob,
  clearedRunOwnership,
  requeueRunningJobs,
  resetRunOwnership,
  stampRunOwnership,
} from 'transition-ownership';
import { expect } from 'vitest';
import { failure, ok, type Proofs } from './proofs.js';
import type { JobRow, TestOwnership } from './yard.js';

/** A queued job as every way back to the queue must leave it. */
const clean = {
  status: 'queued',
  run_id: null,
  pid: null,
  host: null,
  pid_start: null,
  started_at: null,
  finished_at: null,
  worker_id: null,
} as const;

const running = (nowMs: number): Partial<JobRow> => ({
  task_id: 1,
  status: 'running',
  run_id: 7,
  pid: 77,
  host: 'here',
  pid_start: 'start-77',
  started_at: nowMs - 900_000,
  finished_at: nowMs - 1,
  worker_id: 'w1',
});

async function claimed(ownership: TestOwnership) {
  const job = await ok(claimNextJob(ownership));
  if (job === null) throw new Error('there is no job');
  return job;
}

export const returning: Proofs = {
  'resetRunOwnership clears the whole run ownership in the same statement as the status': async (yard) => {
    const worker = yard.start('a');
    await yard.put(running(yard.nowMs));
    const report = await ok(resetRunOwnership(worker.own(), { jobId: 1, expected: { runId: 7, pid: 77 } }));
    expect(report).toEqual({ reset: [1], skipped: [] });
    expect(await yard.job(1)).toMatchObject(clean);
    expect(worker.wire.matching(/^update/)).toHaveLength(1);
    expect(worker.told('job.requeued')).toEqual([
      { type: 'job.requeued', severity: 'info', jobId: 1, taskId: 1, runId: 7, pid: 77, by: 'reset' },
    ]);
  },

  'resetRunOwnership skips a job that has another status, run or pid than was seen': async (yard) => {
    const worker = yard.start('a');
    const ownership = worker.own();
    const is = running(yard.nowMs);
    await yard.put(is);
    await yard.put({ ...is, status: 'done' });
    await yard.put({ ...is, run_id: null, pid: null });
    const before = await yard.jobs();
    const skips = async (jobId: number, expected: { runId: number | null; pid: number | null }) =>
      expect(await ok(resetRunOwnership(ownership, { jobId, expected }))).toEqual({ reset: [], skipped: [jobId] });
    await skips(1, { runId: 8, pid: 77 });
    await skips(1, { runId: 7, pid: 78 });
    await skips(1, { runId: null, pid: 77 });
    await skips(1, { runId: 7, pid: null });
    await skips(2, { runId: 7, pid: 77 });
    await skips(3, { runId: 7, pid: 77 });
    await skips(4, { runId: 7, pid: 77 });
    expect(await yard.jobs()).toEqual(before);
    expect(worker.told('job.requeued')).toEqual([]);
    expect(await ok(resetRunOwnership(ownership, { jobId: 3, expected: { runId: null, pid: null } }))).toMatchObject({
      reset: [3],
    });
  },

  'resetRunOwnership takes many jobs in one UPDATE, and tells which of them it returned': async (yard) => {
    const worker = yard.start('a');
    for (const id of [1, 2, 3, 4]) await yard.put({ ...running(yard.nowMs), id, run_id: id });
    await yard.set(3, { status: 'done' });
    const report = await ok(resetRunOwnership(worker.own(), { jobIds: [4, 9, 3, 1], expected: 'any' }));
    expect(report).toEqual({ reset: [4, 1], skipped: [9, 3] });
    expect((await yard.jobs()).map(({ status }) => status)).toEqual(['queued', 'running', 'done', 'queued']);
    expect(worker.wire.matching(/^update/)).toHaveLength(1);
    expect(await ok(resetRunOwnership(worker.own(), { jobIds: [], expected: 'any' }))).toEqual({
      reset: [],
      skipped: [],
    });
  },

  'resetRunOwnership returns a job from another status, and sets what it is told to from the row as it was': async (
    yard,
  ) => {
    const ownership = yard.start('a').own();
    await yard.put({ ...running(yard.nowMs), status: 'failed', attempts: 3 });
    const set = {
      last_status: sql<string>`status`,
      attempts: sql<number>`case when status = 'failed' then attempts + 1 else -1 end`,
      available_at: null,
    };
    expect(await ok(resetRunOwnership(ownership, { jobId: 1, from: 'failed', expected: 'any', set }))).toMatchObject({
      reset: [1],
    });
    expect(await yard.job(1)).toMatchObject({ ...clean, last_status: 'failed', attempts: 4 });
  },

  'resetRunOwnership is not sent again after a lost reply, and says that its outcome is unknown': async (yard) => {
    const worker = yard.start('a');
    await yard.put(running(yard.nowMs));
    worker.wire.fault(yard.dialect.returning ? /^update/ : /^commit/, 'reply-lost', 1);
    expect(await failure(resetRunOwnership(worker.own(), { jobId: 1, expected: 'any' }))).toMatchObject({
      outcome: 'unknown',
    });
    expect(worker.wire.matching(/^update/)).toHaveLength(1);
  },

  'resetRunOwnership leaves the new run of a job alone: what was overdue then is not now': async (yard) => {
    const ownership = yard.start('a').own();
    await yard.put(running(yard.nowMs));
    await ok(resetRunOwnership(ownership, { jobId: 1, expected: { runId: 7, pid: 77 } }));
    const job = await claimed(ownership);
    await ok(stampRunOwnership(ownership, { job, runId: 8, pid: 88 }));
    expect(await ok(resetRunOwnership(ownership, { jobId: 1, expected: { runId: 7, pid: 77 } }))).toMatchObject({
      skipped: [1],
    });
    expect(await yard.job(1)).toMatchObject({ run_id: 8, pid: 88, started_at: yard.nowMs, finished_at: null });
  },

  'resetRunOwnership in a transaction of the caller goes with it': async (yard) => {
    const worker = yard.start('a');
    const ownership = worker.own();
    await yard.put(running(yard.nowMs));
    const undone = worker.db.transaction().execute(async (trx) => {
      await ok(resetRunOwnership(ownership.using(trx), { jobId: 1, expected: 'any' }));
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await yard.job(1)).toMatchObject({ status: 'running', run_id: 7 });
  },

  'clearedRunOwnership is the same SET for statements of the caller': async (yard) => {
    const worker = yard.start('a');
    await yard.put(running(yard.nowMs));
    const cleared = clearedRunOwnership(worker.own());
    expect(Object.isFrozen(cleared)).toBe(true);
    await worker.db
      .updateTable('jobs')
      .set({ ...cleared, attempts: 5 })
      .where('id', '=', 1)
      .execute();
    expect(await yard.job(1)).toMatchObject({ ...clean, attempts: 5 });
  },

  'requeueRunningJobs of all returns every running job and no other': async (yard) => {
    const worker = yard.start('a');
    await yard.put(running(yard.nowMs));
    await yard.put({ status: 'running', started_at: yard.nowMs });
    await yard.put({ ...running(yard.nowMs), status: 'done' });
    await yard.put({ status: 'queued' });
    const report = await ok(requeueRunningJobs(worker.own(), { owners: 'all' }));
    expect(report.requeued).toMatchObject([
      { jobId: 1, taskId: 1, runId: 7, pid: 77 },
      { jobId: 2, taskId: null, runId: null, pid: null },
    ]);
    expect(report).toMatchObject({ kept: [], skipped: [] });
    expect((await yard.jobs()).map(({ status }) => status)).toEqual(['queued', 'queued', 'done', 'queued']);
    expect(await yard.job(1)).toMatchObject(clean);
    expect(worker.told('job.requeued')).toMatchObject([
      { jobId: 1, runId: 7, pid: 77, by: 'recovery' },
      { jobId: 2, by: 'recovery' },
    ]);
    expect(await ok(requeueRunningJobs(worker.own(), { owners: 'all' }))).toEqual({
      requeued: [],
      kept: [],
      skipped: [],
      unreadable: 0,
      complete: true,
    });
  },

  'requeueRunningJobs of the dead returns what is provably dead, and keeps everything uncertain': async (yard) => {
    const worker = yard.start('a');
    const here = { ...running(yard.nowMs), task_id: null };
    yard.sights.set(2, { state: 'exists', start: 'start-77' });
    yard.sights.set(3, { state: 'exists', start: 'another' });
    yard.sights.set(4, { state: 'unknown', start: null });
    yard.sights.set(5, { state: 'exists', start: null });
    await yard.put({ ...here, id: 1, pid: 1 });
    for (const id of [2, 3, 4, 5]) await yard.put({ ...here, id, pid: id });
    await yard.put({ ...here, id: 6, pid: null, run_id: null });
    await yard.put({ ...here, id: 7, host: 'elsewhere' });
    await yard.put({ ...here, id: 8, host: null });
    const report = await ok(requeueRunningJobs(worker.own(), { owners: 'dead-only' }));
    expect(report.requeued.map(({ jobId }) => jobId)).toEqual([1, 3]);
    expect(report.kept).toEqual([2, 4, 5, 6, 7, 8]);
  },

  'requeueRunningJobs of the dead keeps a job whose task somebody may be moving': async (yard) => {
    const worker = yard.start('a');
    const owner = yard.start('finalizer');
    await yard.put({ ...running(yard.nowMs), task_id: 1 });
    await yard.put({ ...running(yard.nowMs), task_id: 2 });
    await ok(acquireLease(owner.own(), { taskId: 1, actor: 'finalizer' }));
    const ownership = worker.own();
    const report = await ok(requeueRunningJobs(ownership, { owners: 'dead-only' }));
    expect(report).toMatchObject({ requeued: [{ jobId: 2 }], kept: [1] });
    worker.wire.fault(/transition_lease/, 'strange');
    expect(await ok(requeueRunningJobs(ownership, { owners: 'dead-only' }))).toMatchObject({ requeued: [], kept: [1] });
    worker.wire.mend();
    owner.kill();
    expect(await ok(requeueRunningJobs(ownership, { owners: 'dead-only' }))).toMatchObject({
      requeued: [{ jobId: 1 }],
    });
  },

  'requeueRunningJobs names no lease table while the library is switched off': async (yard) => {
    const worker = yard.start('a');
    await yard.put(running(yard.nowMs));
    const report = await ok(requeueRunningJobs(worker.own({ mode: 'off' }), { owners: 'dead-only' }));
    expect(report).toMatchObject({ requeued: [{ jobId: 1 }] });
    expect(worker.wire.matching(/transition_lease/)).toEqual([]);
  },

  'requeueRunningJobs leaves a job alone that finished while it looked': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ ...running(yard.nowMs), task_id: null });
    await yard.put({ ...running(yard.nowMs), task_id: null });
    worker.wire.meanwhile(yard.comparing, async (run) => {
      await yard.set(1, { status: 'done', finished_at: yard.nowMs });
      await run();
    });
    const report = await ok(requeueRunningJobs(worker.own(), { owners: 'all' }));
    expect(report).toMatchObject({ requeued: [{ jobId: 2 }], skipped: [1] });
    expect(await yard.job(1)).toMatchObject({ status: 'done', run_id: 7, finished_at: yard.nowMs });
  },

  'requeueRunningJobs is not stopped by a job that cannot be written, and is by a lost connection': async (yard) => {
    const worker = yard.start('a');
    for (const _ of [1, 2, 3]) await yard.put({ ...running(yard.nowMs), task_id: null });
    const ownership = worker.own();
    worker.wire.fault(yard.comparing, 'strange', 1);
    const report = await ok(requeueRunningJobs(ownership, { owners: 'all' }));
    expect(report).toMatchObject({ requeued: [{ jobId: 2 }, { jobId: 3 }], skipped: [1] });
    await yard.set(2, { status: 'running' });
    worker.wire.fault(yard.comparing, 'refused');
    expect(await failure(requeueRunningJobs(ownership, { owners: 'all' }))).toMatchObject({ kind: 'connection' });
    // Two seconds of pauses for the first of them; none is tried after it.
    expect(worker.wire.matching(yard.comparing).length).toBeLessThan(40);
  },
};
