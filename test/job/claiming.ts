import { sql } from 'kysely';
import { claimNextJob, stampRunOwnership } from 'transition-ownership';
import { expect } from 'vitest';
import { failure, ok, type Proofs } from './proofs.js';

const stale = { run_id: 7, pid: 77, host: 'old', pid_start: 'old', worker_id: 'old' };

export const claiming: Proofs = {
  'claimNextJob moves a job from queued to running, clears what a former run left, and starts it now': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ ...stale, task_id: 2, started_at: yard.nowMs - 9_000, finished_at: yard.nowMs - 5_000 });

    const job = await ok(claimNextJob(worker.own()));
    expect(job).toMatchObject({ jobId: 1, taskId: 2, runId: null, pid: null, startedAtMs: yard.nowMs });
    expect(job?.row).toMatchObject({ id: 1, task_id: 2, status: 'running', run_id: null, pid: null, worker_id: null });
    expect(Object.keys(job?.row ?? {})).not.toContainEqual(expect.stringContaining(':'));
    expect(await yard.job(1)).toMatchObject({
      status: 'running',
      run_id: null,
      pid: null,
      host: null,
      pid_start: null,
      worker_id: null,
      started_at: yard.nowMs,
      finished_at: null,
    });
    expect(worker.told('job.claimed')).toEqual([
      { type: 'job.claimed', severity: 'debug', jobId: 1, taskId: 2, runId: null, pid: null },
    ]);
  },

  'claimNextJob is one statement where UPDATE answers with rows, and one short transaction elsewhere': async (yard) => {
    const worker = yard.start('a');
    await yard.put();
    const ownership = worker.own({ survey: 'off' });
    await ok(claimNextJob(ownership));
    const sent = worker.wire.sent.map(({ sql: text }) => /^(begin|start transaction|\w+)/.exec(text)?.[0]);
    expect(sent).toEqual(yard.dialect.returning ? ['update'] : ['begin', 'select', 'update', 'select', 'commit']);
  },

  'claimNextJob answers null when no job is queued, and changes no other': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ status: 'done' });
    await yard.put({ status: 'failed' });
    await yard.put({ status: 'running', run_id: 1, pid: 1, started_at: yard.nowMs });
    const before = await yard.jobs();
    expect(await ok(claimNextJob(worker.own()))).toBeNull();
    expect(await yard.jobs()).toEqual(before);
    expect(worker.told('job.claimed')).toEqual([]);
  },

  'claimNextJob takes the least id by default, and one job at a time': async (yard) => {
    const worker = yard.start('a');
    for (const id of [3, 1, 2]) await yard.put({ id });
    const ownership = worker.own();
    const taken = [];
    for (let times = 0; times < 4; times += 1) taken.push((await ok(claimNextJob(ownership)))?.jobId ?? null);
    expect(taken).toEqual([1, 2, 3, null]);
  },

  'claimNextJob orders as asked, and by the least id where that leaves it open': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ id: 1, attempts: 1, kind: 'b' });
    await yard.put({ id: 2, attempts: 9, kind: 'b' });
    await yard.put({ id: 3, attempts: 9, kind: 'a' });
    await yard.put({ id: 4, attempts: 9, kind: 'a' });
    const ownership = worker.own();
    const next = async (orderBy: Parameters<typeof claimNextJob<NonNullable<typeof ownership.shape>>>[1]) =>
      (await ok(claimNextJob(ownership, orderBy)))?.jobId;
    expect(await next({ orderBy: [{ column: 'attempts', direction: 'desc' }, 'kind'] })).toBe(3);
    expect(await next({ orderBy: { column: 'attempts', direction: 'desc' } })).toBe(2);
    expect(await next({ orderBy: { column: 'id', direction: 'desc' } })).toBe(4);
    expect(await next({ orderBy: 'kind' })).toBe(1);
  },

  'claimNextJob takes only what its conditions match, and null is a value': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ kind: 'build' });
    await yard.put({ kind: null });
    await yard.put({ kind: 'deploy', attempts: 5 });
    await yard.put({ kind: 'deploy', attempts: 1 });
    const ownership = worker.own();
    expect((await ok(claimNextJob(ownership, { where: { kind: null } })))?.jobId).toBe(2);
    expect(await ok(claimNextJob(ownership, { where: { kind: null } }))).toBeNull();
    expect(
      (await ok(claimNextJob(ownership, { where: (eb) => eb('attempts', '<', 3).and('kind', '=', 'deploy') })))?.jobId,
    ).toBe(4);
    expect((await ok(claimNextJob(ownership, { where: { kind: 'deploy', attempts: 5 } })))?.jobId).toBe(3);
    expect(
      await ok(claimNextJob(ownership, { where: (eb) => eb.or([eb('kind', '=', 'x'), eb('kind', '=', 'y')]) })),
    ).toBeNull();
    expect((await ok(claimNextJob(ownership)))?.jobId).toBe(1);
  },

  'claimNextJob passes over a job that is not due, by the clock of the database': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ available_at: yard.nowMs + 1_000 });
    const ownership = worker.own();
    expect(await ok(claimNextJob(ownership))).toBeNull();
    await yard.advance(999);
    expect(await ok(claimNextJob(ownership))).toBeNull();
    await yard.advance(1);
    expect((await ok(claimNextJob(ownership)))?.jobId).toBe(1);
  },

  'claimNextJob charges the attempt in the claim itself, from the row as it was': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ attempts: 2, worker_id: 'old' });
    const set = {
      attempts: sql<number>`attempts + 1`,
      last_status: sql<string>`status`,
      worker_id: 'w1',
    };
    const job = await ok(claimNextJob(worker.own(), { set }));
    expect(job?.row).toMatchObject({ attempts: 3, last_status: 'queued', worker_id: 'w1' });
    expect(await yard.job(1)).toMatchObject({ attempts: 3, last_status: 'queued', worker_id: 'w1' });
  },

  'claimNextJob lets each of many claimers at once take a job of its own': async (yard) => {
    for (let id = 1; id <= 30; id += 1) await yard.put({ id });
    const workers = ['a', 'b', 'c', 'd'].map((name) => yard.start(name).own());
    const taken = await Promise.all(
      workers.map(async (ownership) => {
        const mine: number[] = [];
        for (;;) {
          const job = await ok(claimNextJob(ownership));
          if (job === null) return mine;
          mine.push(job.jobId);
        }
      }),
    );
    expect(taken.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
  },

  'claimNextJob is not stopped by a lease store in trouble': async (yard) => {
    const worker = yard.start('a');
    await yard.put();
    worker.wire.fault(/transition_lease/, 'strange');
    expect((await ok(claimNextJob(worker.own())))?.jobId).toBe(1);
  },

  'claimNextJob takes no second job after a lost reply, and says that its outcome is unknown': async (yard) => {
    const worker = yard.start('a');
    await yard.put();
    await yard.put();
    worker.wire.fault(yard.dialect.returning ? /^update/ : /^commit/, 'reply-lost', 1);
    expect(await failure(claimNextJob(worker.own()))).toMatchObject({ type: 'store-failure', outcome: 'unknown' });
    expect((await yard.jobs()).map(({ status }) => status)).toEqual(['running', 'queued']);
  },

  'claimNextJob tries again after a serialization failure, and never calls it no work': async (yard) => {
    const worker = yard.start('a');
    await yard.put();
    const conflict = async (): Promise<void> => {
      throw Object.assign(new Error('could not serialize access'), { code: yard.store.conflict });
    };
    for (let times = 0; times < 3; times += 1) worker.wire.meanwhile(/^(update|select)/, conflict);
    expect((await ok(claimNextJob(worker.own())))?.jobId).toBe(1);
    await yard.put();
    for (let times = 0; times < 50; times += 1) worker.wire.meanwhile(/^(update|select)/, conflict);
    expect(await failure(claimNextJob(worker.own()))).toMatchObject({ retryable: true, outcome: 'not-applied' });
    expect(await yard.job(2)).toMatchObject({ status: 'queued' });
  },

  'claimNextJob in a transaction of the caller goes with it': async (yard) => {
    const worker = yard.start('a');
    await yard.put();
    const ownership = worker.own();
    const undone = worker.db.transaction().execute(async (trx) => {
      expect((await ok(claimNextJob(ownership.using(trx))))?.jobId).toBe(1);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await yard.job(1)).toMatchObject({ status: 'queued', started_at: null });
  },

  'stampRunOwnership writes the run of a claimed job, with the host and the start mark of its pid': async (yard) => {
    const worker = yard.start('a');
    yard.sights.set(4711, { state: 'exists', start: '12345' });
    await yard.put();
    await yard.put();
    const ownership = worker.own();
    const job = await ok(claimNextJob(ownership));
    if (job === null) throw new Error('no job');
    await ok(claimNextJob(ownership));
    await yard.advance(50);
    expect(await ok(stampRunOwnership(ownership, { job, runId: 7, pid: 4711 }))).toBe('stamped');
    expect(await yard.job(1)).toMatchObject({
      status: 'running',
      run_id: 7,
      pid: 4711,
      host: 'here',
      pid_start: '12345',
      started_at: job.startedAtMs,
    });
    expect(await yard.job(2)).toMatchObject({ status: 'running', run_id: null, pid: null });
  },

  'stampRunOwnership is superseded once the job was claimed again, and writes nothing': async (yard) => {
    const [late, next] = [yard.start('late').own(), yard.start('next').own()];
    await yard.put();
    const job = await ok(claimNextJob(late));
    if (job === null) throw new Error('no job');
    await yard.advance(1);
    await yard.set(1, { status: 'queued', started_at: null });
    const again = await ok(claimNextJob(next));
    if (again === null) throw new Error('no job');
    expect(await ok(stampRunOwnership(late, { job, runId: 7, pid: 70 }))).toBe('superseded');
    expect(await yard.job(1)).toMatchObject({ run_id: null, pid: null });
    expect(await ok(stampRunOwnership(next, { job: again, runId: 8, pid: 80 }))).toBe('stamped');
    expect(await ok(stampRunOwnership(late, { job, runId: 7, pid: 70 }))).toBe('superseded');
    expect(await yard.job(1)).toMatchObject({ run_id: 8, pid: 80 });
  },

  'stampRunOwnership is superseded by a cancelled, a finished and a stamped job': async (yard) => {
    const ownership = yard.start('a').own();
    for (const change of [{ status: 'failed' }, { status: 'queued' }, { run_id: 1 }, { pid: 1 }] as const) {
      const id = await yard.put();
      const job = await ok(claimNextJob(ownership));
      if (job === null) throw new Error('no job');
      await yard.set(id, change);
      const before = await yard.job(id);
      expect(await ok(stampRunOwnership(ownership, { job, runId: 7, pid: 70 }))).toBe('superseded');
      expect(await yard.job(id)).toEqual(before);
      await yard.set(id, { status: 'done' });
    }
  },

  'stampRunOwnership finds its own stamp after a lost reply': async (yard) => {
    const worker = yard.start('a');
    await yard.put();
    const ownership = worker.own();
    const job = await ok(claimNextJob(ownership));
    if (job === null) throw new Error('no job');
    worker.wire.fault(/^update/, 'reply-lost', 1);
    expect(await ok(stampRunOwnership(ownership, { job, runId: 7, pid: 70 }))).toBe('stamped');
    worker.wire.fault(/^update/, 'reply-lost', 1);
    expect(await ok(stampRunOwnership(ownership, { job, runId: 8, pid: 80 }))).toBe('superseded');
    expect(await yard.job(1)).toMatchObject({ run_id: 7, pid: 70 });
  },
};
