import {
  acquireLease,
  claimNextJob,
  createJobReaper,
  type ReaperOptions,
  snapshot,
  stampRunOwnership,
} from 'transition-ownership';
import { expect } from 'vitest';
import { failure, ok, type Proofs } from './proofs.js';
import type { JobRow, TestOwnership, Yard } from './yard.js';

type Options = ReaperOptions<NonNullable<TestOwnership['shape']>>;

const HOUR = 3_600_000;
const GRACE = 10_000;
const lease = { maxHoldMs: HOUR };
const limits = { finalizeGraceMs: GRACE, maxRunningMs: HOUR } as const;
const reaperOf = (ownership: TestOwnership, options: Partial<Options> = {}) =>
  createJobReaper(ownership, { ...limits, onDead: 'requeue', ...options });

/** Puts a running job there whose process is gone. */
const putDead = (yard: Yard, job: Partial<JobRow> = {}) =>
  yard.put({
    status: 'running',
    run_id: 7,
    pid: 77,
    host: 'here',
    pid_start: 'start-77',
    started_at: yard.nowMs - 60_000,
    worker_id: 'w',
    ...job,
  });

const NOTHING = {
  examined: 0,
  starting: 0,
  alive: 0,
  suspected: 0,
  deferred: 0,
  reaped: 0,
  forced: 0,
  skipped: 0,
  sanitized: 0,
  unreadable: 0,
  complete: true,
  outcomes: [],
};

export const reaping: Proofs = {
  'a tick reaps a job whose process was dead at deadTicks ticks in a row and for finalizeGraceMs': async (yard) => {
    const worker = yard.start('a');
    await putDead(yard, { task_id: 3 });
    const ownership = worker.own();
    const reaper = reaperOf(ownership);
    expect(await ok(reaper.tick())).toEqual({ ...NOTHING, examined: 1, suspected: 1 });
    await yard.advance(GRACE - 1);
    expect(await ok(reaper.tick())).toMatchObject({ suspected: 1, reaped: 0 });
    expect(await yard.job(1)).toMatchObject({ status: 'running', run_id: 7 });
    await yard.advance(1);
    expect(await ok(reaper.tick())).toEqual({
      ...NOTHING,
      examined: 1,
      reaped: 1,
      outcomes: [{ jobId: 1, outcome: 'reaped', reason: 'process-gone' }],
    });
    expect(await yard.job(1)).toMatchObject({
      status: 'queued',
      run_id: null,
      pid: null,
      host: null,
      pid_start: null,
      started_at: null,
      worker_id: null,
    });
    expect(worker.told('job.reaped')).toMatchObject([
      { jobId: 1, taskId: 3, runId: 7, pid: 77, reason: 'process-gone', forced: false, severity: 'warning' },
    ]);
    expect(worker.told('job.requeued')).toMatchObject([{ jobId: 1, runId: 7, pid: 77, by: 'reaper' }]);
    expect(await ok(reaper.tick())).toEqual(NOTHING);
    expect((await ok(snapshot(ownership))).counters).toMatchObject({ reaped: 1, requeued: 1 });
  },

  'a tick counts ticks, not time: one look, however late, is no proof': async (yard) => {
    await putDead(yard);
    const ownership = yard.start('a').own();
    await yard.advance(10 * GRACE);
    expect(await ok(reaperOf(ownership, { finalizeGraceMs: 0 }).tick())).toMatchObject({ suspected: 1, reaped: 0 });
    expect(await ok(reaperOf(ownership, { finalizeGraceMs: 0, deadTicks: 1 }).tick())).toMatchObject({ reaped: 1 });
  },

  'a tick counts anew once the process was seen alive, or the job has another run': async (yard) => {
    await putDead(yard);
    const ownership = yard.start('a').own();
    const reaper = reaperOf(ownership, { finalizeGraceMs: 0, deadTicks: 3 });
    const states: string[] = [];
    const look = async () => {
      const { alive, suspected, reaped } = await ok(reaper.tick());
      states.push(alive ? 'alive' : suspected ? 'suspected' : reaped ? 'reaped' : 'none');
      await yard.advance(1);
    };
    await look();
    await look();
    yard.sights.set(77, { state: 'exists', start: 'start-77' });
    await look();
    yard.sights.delete(77);
    await look();
    await look();
    await yard.set(1, { run_id: 8 });
    await look();
    await look();
    await yard.set(1, { started_at: yard.nowMs });
    await look();
    await look();
    await look();
    expect(states.join()).toBe(
      'suspected,suspected,alive,suspected,suspected,suspected,suspected,suspected,suspected,reaped',
    );
  },

  'a tick leaves a starting job alone: no pid is no dead pid': async (yard) => {
    const worker = yard.start('a');
    const ownership = worker.own();
    await yard.put();
    await ok(claimNextJob(ownership));
    const reaper = reaperOf(ownership, { finalizeGraceMs: 0, deadTicks: 1 });
    for (const _ of [1, 2, 3]) expect(await ok(reaper.tick())).toEqual({ ...NOTHING, examined: 1, starting: 1 });
    await yard.advance(HOUR);
    expect(await ok(reaper.tick())).toMatchObject({ starting: 1, reaped: 0 });
    await yard.advance(1);
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1, forced: 1 });
    expect(await yard.job(1)).toMatchObject({ status: 'queued', started_at: null });
  },

  'a tick never looks at a queued job, however long it waits': async (yard) => {
    const ownership = yard.start('a').own();
    await yard.put({ available_at: yard.nowMs });
    await yard.advance(20 * HOUR);
    const reaper = reaperOf(ownership, { finalizeGraceMs: 0, deadTicks: 1 });
    expect(await ok(reaper.tick())).toEqual(NOTHING);
    expect(await yard.job(1)).toMatchObject({ status: 'queued' });
  },

  'a tick takes pids as evidence only by their host and their start mark': async (yard) => {
    yard.sights.set(2, { state: 'exists', start: 'start-77' });
    yard.sights.set(3, { state: 'exists', start: 'another' });
    yard.sights.set(4, { state: 'unknown', start: null });
    for (const id of [1, 2, 3, 4]) await putDead(yard, { id, pid: id });
    await putDead(yard, { id: 5, host: 'elsewhere' });
    await putDead(yard, { id: 6, host: null });
    const reaper = reaperOf(yard.start('a').own(), { finalizeGraceMs: 0, deadTicks: 1 });
    const report = await ok(reaper.tick());
    expect(report).toMatchObject({ examined: 6, alive: 4, reaped: 2 });
    expect(report.outcomes.map(({ jobId }) => jobId)).toEqual([1, 3]);
  },

  'a tick defers to a live lease on the task, and counts it': async (yard) => {
    const worker = yard.start('a');
    const finalizer = yard.start('finalizer');
    await putDead(yard, { task_id: 1 });
    const held = await ok(acquireLease(finalizer.own({ lease }), { taskId: 1, actor: 'finalizer' }));
    const reaper = reaperOf(worker.own({ lease }), { finalizeGraceMs: 0, deadTicks: 1 });
    for (const _ of [1, 2]) {
      expect(await ok(reaper.tick())).toEqual({
        ...NOTHING,
        examined: 1,
        deferred: 1,
        outcomes: [{ jobId: 1, outcome: 'deferred', reason: 'lease-live' }],
      });
    }
    expect(worker.told('action.deferred')).toMatchObject([
      { taskId: 1, reason: 'lease-live' },
      { taskId: 1, reason: 'lease-live' },
    ]);
    expect(await yard.job(1)).toMatchObject({ status: 'running', run_id: 7 });
    await held[Symbol.asyncDispose]();
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1, deferred: 0 });
  },

  'a tick defers to a lease that is there: a scope that decides by a context is not asked': async (yard) => {
    const [worker, finalizer] = [yard.start('a'), yard.start('b')];
    const scope = ({ context }: { readonly context: unknown }) => context === 'guarded';
    await putDead(yard, { task_id: 3 });
    await ok(acquireLease(finalizer.own({ lease, scope }), { taskId: 3, actor: 'finalizer', context: 'guarded' }));
    const reaper = reaperOf(worker.own({ lease, scope }), { finalizeGraceMs: 0, deadTicks: 1 });
    expect(await ok(reaper.tick())).toMatchObject({ deferred: 1, reaped: 0 });
  },

  'a tick defers no longer to a finalizer that is dead, and reclaims its lease': async (yard) => {
    const worker = yard.start('a');
    const finalizer = yard.start('finalizer');
    await putDead(yard, { task_id: 1 });
    await ok(acquireLease(finalizer.own({ lease }), { taskId: 1, actor: 'finalizer' }));
    finalizer.kill();
    const reaper = reaperOf(worker.own({ lease }), { finalizeGraceMs: 0, deadTicks: 1 });
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1 });
    expect(worker.told('lease.reclaimed')).toMatchObject([{ taskId: 1, reason: 'process-gone' }]);
    await finalizer.db.destroy();
  },

  'a tick defers while the lease cannot be read, and reaps what is overdue all the same': async (yard) => {
    const worker = yard.start('a');
    await putDead(yard, { task_id: 1 });
    await putDead(yard, { task_id: 2, started_at: yard.nowMs - HOUR - 1 });
    worker.wire.fault(/transition_lease/, 'strange');
    const reaper = reaperOf(worker.own({ lease }), { finalizeGraceMs: 0, deadTicks: 1 });
    expect(await ok(reaper.tick())).toMatchObject({
      deferred: 1,
      reaped: 1,
      forced: 1,
      outcomes: [
        { jobId: 1, outcome: 'deferred', reason: 'lease-unreadable' },
        { jobId: 2, outcome: 'reaped', reason: 'running-too-long' },
      ],
    });
  },

  'a tick reaps a job that runs longer than maxRunningMs, whatever its pid and its lease say': async (yard) => {
    const worker = yard.start('a');
    const finalizer = yard.start('finalizer');
    yard.sights.set(77, { state: 'exists', start: 'start-77' });
    await putDead(yard, { task_id: 1, started_at: yard.nowMs - HOUR });
    await ok(acquireLease(finalizer.own({ lease }), { taskId: 1, actor: 'finalizer' }));
    const reaper = reaperOf(worker.own({ lease }), { onDead: 'fail' });
    expect(await ok(reaper.tick())).toMatchObject({ alive: 1, reaped: 0 });
    await yard.freeze(1);
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1, forced: 1, deferred: 0 });
    expect(worker.told('job.reaped')).toMatchObject([{ jobId: 1, reason: 'running-too-long', forced: true }]);
    expect(worker.told('lease.reclaimed')).toEqual([]);
  },

  'a tick reclaims the lease of an overdue job past its deadline, as forced': async (yard) => {
    const worker = yard.start('a');
    const finalizer = yard.start('finalizer');
    await putDead(yard, { task_id: 1, started_at: yard.nowMs });
    await ok(acquireLease(finalizer.own({ lease }), { taskId: 1, actor: 'finalizer' }));
    await yard.freeze(HOUR + 1);
    expect(await ok(reaperOf(worker.own({ lease })).tick())).toMatchObject({ reaped: 1, forced: 1 });
    expect(worker.told('lease.reclaimed')).toMatchObject([{ taskId: 1, reason: 'over-budget' }]);
    expect(worker.told('lease.forced')).toMatchObject([{ taskId: 1, severity: 'alert' }]);
  },

  'a tick reclaims no lease while the mode is draining, and names no lease table while it is off': async (yard) => {
    const finalizer = yard.start('finalizer');
    for (const mode of ['draining', 'off'] as const) {
      const worker = yard.start(mode);
      const task_id = mode === 'off' ? 2 : 1;
      await putDead(yard, { task_id, started_at: yard.nowMs });
      await ok(acquireLease(finalizer.own({ lease }), { taskId: task_id, actor: 'finalizer' }));
      await yard.freeze(HOUR + 1);
      expect(await ok(reaperOf(worker.own({ lease, mode })).tick())).toMatchObject({ reaped: 1 });
      expect(worker.told('lease.reclaimed')).toEqual([]);
      if (mode === 'off') expect(worker.wire.matching(/transition_lease/)).toEqual([]);
    }
  },

  'a tick fails a job when told to, and keeps the record of its run': async (yard) => {
    await putDead(yard);
    const reaper = reaperOf(yard.start('a').own(), { finalizeGraceMs: 0, deadTicks: 1, onDead: 'fail' });
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1 });
    expect(await yard.job(1)).toMatchObject({
      status: 'failed',
      run_id: 7,
      pid: 77,
      worker_id: 'w',
      finished_at: yard.nowMs,
    });
  },

  'a tick asks onDead for each job: to requeue, to fail, to park with more columns, or to leave it': async (yard) => {
    for (const kind of ['requeue', 'fail', 'park', 'leave', 'retry']) await putDead(yard, { kind, attempts: 2 });
    const asked: unknown[] = [];
    const reaper = reaperOf(yard.start('a').own(), {
      finalizeGraceMs: 0,
      deadTicks: 1,
      onDead: async (job) => {
        asked.push([job.jobId, job.runId, job.pid, job.reason, job.forced, job.runningForMs]);
        if (job.row.kind === 'park') return { status: 'parked', set: { last_status: job.row.status } };
        if (job.row.kind === 'retry') return { status: 'queued', set: { attempts: job.row.attempts + 1 } };
        return job.row.kind as 'requeue' | 'fail' | 'leave';
      },
    });
    const report = await ok(reaper.tick());
    expect(report).toMatchObject({ examined: 5, reaped: 4, skipped: 1 });
    expect(report.outcomes[3]).toEqual({ jobId: 4, outcome: 'skipped', reason: 'onDead left it' });
    expect((await yard.jobs()).map(({ status }) => status)).toEqual([
      'queued',
      'failed',
      'parked',
      'running',
      'queued',
    ]);
    expect(await yard.job(3)).toMatchObject({ run_id: 7, finished_at: yard.nowMs, last_status: 'running' });
    expect(await yard.job(5)).toMatchObject({ run_id: null, attempts: 3 });
    expect(asked[0]).toEqual([1, 7, 77, 'process-gone', false, 60_000]);
  },

  'a tick sends a poison job to its end: the attempt was charged at the claim, so no crash avoids it': async (yard) => {
    const ownership = yard.start('a').own();
    await yard.put();
    const reaper = reaperOf(ownership, {
      finalizeGraceMs: 0,
      deadTicks: 1,
      onDead: (job) => (job.row.attempts >= 3 ? 'fail' : 'requeue'),
    });
    const ends = [];
    for (let life = 1; life <= 3; life += 1) {
      const job = await ok(claimNextJob(ownership, { set: { attempts: (eb) => eb('attempts', '+', 1) } }));
      if (job === null) throw new Error('no job');
      await ok(stampRunOwnership(ownership, { job, runId: life, pid: 5_000 + life }));
      await ok(reaper.tick());
      ends.push((await yard.job(1)).status);
    }
    expect(ends).toEqual(['queued', 'queued', 'failed']);
    expect(await yard.job(1)).toMatchObject({ attempts: 3 });
  },

  'a tick leaves a job alone that finished while it looked': async (yard) => {
    const worker = yard.start('a');
    await putDead(yard);
    worker.wire.meanwhile(yard.comparing, async (run) => {
      await yard.set(1, { status: 'done', finished_at: yard.nowMs });
      await run();
    });
    const reaper = reaperOf(worker.own(), { finalizeGraceMs: 0, deadTicks: 1 });
    expect(await ok(reaper.tick())).toMatchObject({
      reaped: 0,
      skipped: 1,
      outcomes: [{ jobId: 1, outcome: 'skipped', reason: 'it changed meanwhile, or another session has locked it' }],
    });
    expect(await yard.job(1)).toMatchObject({ status: 'done', run_id: 7, pid: 77 });
    expect(worker.told('job.reaped')).toEqual([]);
  },

  'a tick leaves a job alone that another run has by now': async (yard) => {
    for (const change of [{ run_id: 8 }, { pid: 88 }, { started_at: yard.nowMs }, { run_id: null, pid: null }]) {
      const worker = yard.start('a');
      const id = await putDead(yard);
      worker.wire.meanwhile(yard.comparing, async (run) => {
        await yard.set(id, change);
        await run();
      });
      const reaper = reaperOf(worker.own(), { finalizeGraceMs: 0, deadTicks: 1 });
      expect(await ok(reaper.tick())).toMatchObject({ reaped: 0, skipped: 1 });
      expect(await yard.job(id)).toMatchObject({ status: 'running', ...change });
      await yard.set(id, { status: 'done' });
    }
  },

  'a tick is not stopped by a hook that throws, answers nonsense, or by a job that cannot be written': async (yard) => {
    const worker = yard.start('a');
    for (let id = 1; id <= 6; id += 1) await putDead(yard, { id });
    worker.wire.meanwhile(yard.comparing, (run) => run());
    worker.wire.fault(yard.comparing, 'strange', 1);
    const reaper = reaperOf(worker.own(), {
      finalizeGraceMs: 0,
      deadTicks: 1,
      onDead: (job) => {
        if (job.jobId === 1) throw new Error('the hook is broken');
        if (job.jobId === 2) return 'explode' as 'leave';
        if (job.jobId === 5) return { status: 'running' };
        if (job.jobId === 6) return { status: '' as 'done' };
        return 'requeue';
      },
    });
    const report = await ok(reaper.tick());
    expect(report).toMatchObject({ examined: 6, reaped: 1, skipped: 5 });
    expect((await yard.jobs()).map(({ status }) => status)).toEqual([
      'running',
      'running',
      'queued',
      'running',
      'running',
      'running',
    ]);
    const told = worker.told('job.reap-failed');
    expect(told.map(({ jobId, severity }) => [jobId, severity])).toEqual([1, 2, 4, 5, 6].map((id) => [id, 'warning']));
    expect(told[0]?.message).toContain('the hook is broken');
    expect(told[1]?.message).toContain('explode');
    expect(told[3]?.message).toContain('running');
  },

  'a tick asks the probe in place of the pid, and a probe that fails stops neither the rest nor what is overdue':
    async (yard) => {
      const worker = yard.start('a');
      const elsewhere = { host: 'elsewhere' };
      for (const kind of ['dead', 'alive', 'unknown', 'throws', 'nonsense'])
        await putDead(yard, { ...elsewhere, kind });
      await putDead(yard, { ...elsewhere, kind: 'throws', started_at: yard.nowMs - HOUR - 1 });
      await putDead(yard, { ...elsewhere, kind: 'dead', pid: null, run_id: null });
      const asked: (number | null)[] = [];
      const reaper = reaperOf(worker.own({ lease }), {
        finalizeGraceMs: 0,
        deadTicks: 1,
        probe: async ({ row: { kind }, pid }) => {
          asked.push(pid);
          if (kind === 'throws') throw new Error('the probe is broken');
          return kind as 'dead';
        },
      });
      expect(await ok(reaper.tick())).toMatchObject({
        examined: 7,
        reaped: 2,
        forced: 1,
        alive: 2,
        starting: 1,
        skipped: 2,
        outcomes: [{ jobId: 1 }, { jobId: 4, outcome: 'skipped' }, { jobId: 5, outcome: 'skipped' }, { jobId: 6 }],
      });
      expect(asked).toEqual([77, 77, 77, 77, 77]); // whoever ran too long is reaped unasked
      expect(worker.told('job.reap-failed').map(({ jobId }) => jobId)).toEqual([4, 5]);
    },

  'a hook that throws is told once, and then less and less; each report says it all the same': async (yard) => {
    const worker = yard.start('a');
    await putDead(yard);
    let broken = true;
    const reaper = reaperOf(worker.own({ lease }), {
      finalizeGraceMs: 0,
      deadTicks: 1,
      onDead: () => {
        if (broken) throw new Error('the hook is broken');
        return 'leave';
      },
    });
    const toldAt = async (ticks: number): Promise<readonly number[]> => {
      const at: number[] = [];
      for (let tick = 1; tick <= ticks; tick += 1) {
        const before = worker.told('job.reap-failed').length;
        expect(await ok(reaper.tick())).toMatchObject({ skipped: 1, outcomes: [{ outcome: 'skipped' }] });
        if (worker.told('job.reap-failed').length > before) at.push(tick);
      }
      return at;
    };
    expect(await toldAt(40)).toEqual([1, 2, 4, 8, 16, 32]);
    broken = false;
    expect(await toldAt(1)).toEqual([]);
    broken = true;
    expect(await toldAt(3)).toEqual([1, 2]);
  },

  'a probe that does not answer in time has failed, and stops neither the rest nor the next tick': async (yard) => {
    const worker = yard.start('a');
    for (const kind of ['hangs', 'dead']) await putDead(yard, { host: 'elsewhere', kind });
    let hangs: () => void = () => {};
    const reaper = reaperOf(worker.own({ lease }), {
      finalizeGraceMs: 0,
      deadTicks: 1,
      probeTimeoutMs: 3_000,
      probe: ({ row: { kind } }) => {
        if (kind !== 'hangs') return 'dead';
        hangs();
        return new Promise<never>(() => {});
      },
    });
    const tick = async () => {
      const asked = new Promise<void>((resolve) => {
        hangs = resolve;
      });
      const ticked = ok(reaper.tick());
      await asked;
      await yard.advance(3_000);
      return ticked;
    };
    const late = { jobId: 1, outcome: 'skipped', reason: 'the probe did not return within 3000 ms' };
    expect(await tick()).toMatchObject({ reaped: 1, skipped: 1, outcomes: [late, { jobId: 2, outcome: 'reaped' }] });
    expect(await tick()).toMatchObject({ examined: 1, skipped: 1, outcomes: [late] });
    expect(yard.time.timers('a')).toEqual([]);
  },

  'a tick also sanitizes impossible queued jobs': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ run_id: 7, pid: 77 });
    expect(await ok(reaperOf(worker.own()).tick())).toEqual({ ...NOTHING, sanitized: 1 });
    expect(await yard.job(1)).toMatchObject({ run_id: null, pid: null });
    expect(worker.told('queue.sanitized')).toHaveLength(1);
  },

  'a tick does not take time in which the reaper stood still for evidence': async (yard) => {
    await putDead(yard);
    const reaper = reaperOf(yard.start('a').own({ lease: { maxHoldMs: HOUR } }), { maxRunningMs: 100 * HOUR });
    const look = async () => (await ok(reaper.tick())).reaped;
    expect(await look()).toBe(0);
    await yard.advance(5_000);
    expect(await look()).toBe(0);
    await yard.freeze(10 * 60_000);
    expect(await look()).toBe(0);
    await yard.advance(5_000);
    expect(await look()).toBe(0);
    await yard.advance(5_000);
    expect(await look()).toBe(1);
  },

  'a tick does not take time in which the machine was suspended for evidence': async (yard) => {
    await putDead(yard);
    const reaper = reaperOf(yard.start('a').own(), { maxRunningMs: 100 * HOUR });
    expect(await ok(reaper.tick())).toMatchObject({ suspected: 1 });
    await yard.suspend(GRACE);
    expect(await ok(reaper.tick())).toMatchObject({ suspected: 1, reaped: 0 });
    await yard.suspend(HOUR);
    expect(await ok(reaper.tick())).toMatchObject({ suspected: 1, reaped: 0 });
    await yard.advance(GRACE);
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1 });
  },

  'a tick comes to its end in a reaper that is called rarely but evenly': async (yard) => {
    await putDead(yard);
    const reaper = reaperOf(yard.start('a').own(), { maxRunningMs: 100 * HOUR });
    const reaped = [];
    for (let tick = 0; tick < 4; tick += 1) {
      reaped.push((await ok(reaper.tick())).reaped);
      await yard.freeze(HOUR);
    }
    expect(reaped).toEqual([0, 0, 1, 0]);
  },

  'a tick counts a job without a readable start from when it was first seen': async (yard) => {
    await putDead(yard, { started_at: null, pid: null, run_id: null });
    const reaper = reaperOf(yard.start('a').own());
    expect(await ok(reaper.tick())).toMatchObject({ starting: 1 });
    await yard.advance(HOUR);
    expect(await ok(reaper.tick())).toMatchObject({ starting: 1 });
    await yard.advance(1);
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1, forced: 1 });
  },

  'a tick that is under way answers whoever calls it meanwhile': async (yard) => {
    const worker = yard.start('a');
    await putDead(yard);
    const reaper = reaperOf(worker.own(), { finalizeGraceMs: 0 });
    const [first, second] = await Promise.all([ok(reaper.tick()), ok(reaper.tick())]);
    expect(first).toBe(second);
    expect(first).toMatchObject({ suspected: 1 });
  },

  'a tick whose jobs cannot be read fails, and what it saw counts for nothing': async (yard) => {
    const worker = yard.start('a');
    await putDead(yard);
    const reaper = reaperOf(worker.own(), { finalizeGraceMs: 0, deadTicks: 2 });
    worker.wire.fault(/^select/, 'strange', 1);
    expect(await failure(reaper.tick())).toMatchObject({ type: 'store-failure' });
    expect(await ok(reaper.tick())).toMatchObject({ suspected: 1 });
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1 });
  },

  'two reapers at once reap a job once': async (yard) => {
    for (let id = 1; id <= 10; id += 1) await putDead(yard, { id });
    const options = { finalizeGraceMs: 0, deadTicks: 1 };
    const reports = await Promise.all(
      ['a', 'b', 'c'].map((name) => ok(reaperOf(yard.start(name).own(), options).tick())),
    );
    expect(reports.reduce((sum, { reaped }) => sum + reaped, 0)).toBe(10);
    const requeued = yard.workers.flatMap((worker) => worker.told('job.requeued'));
    expect(requeued.map(({ jobId }) => jobId).sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 10 }, (_, at) => at + 1),
    );
  },
};
