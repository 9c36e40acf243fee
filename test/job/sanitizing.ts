import {
  claimNextJob,
  findImpossibleQueued,
  type ImpossibleQueued,
  sanitizeImpossibleQueued,
  snapshot,
} from 'transition-ownership';
import { expect } from 'vitest';
import { failure, ok, type Proofs } from './proofs.js';
import type { Yard } from './yard.js';

/** Jobs 1 to 6, of which 2, 4 and 5 are impossible, and a done and a running one that look the same. */
async function mixed(yard: Yard): Promise<void> {
  await yard.put({ id: 1 });
  await yard.put({ id: 2, task_id: 2, run_id: 7, pid: 77, started_at: yard.nowMs - 1_000, worker_id: 'w' });
  await yard.put({ id: 3 });
  await yard.put({ id: 4, pid: 78 });
  await yard.put({ id: 5, started_at: yard.nowMs - 2_000 });
  await yard.put({ id: 6, worker_id: 'w', finished_at: yard.nowMs });
  await yard.put({ id: 7, status: 'running', run_id: 7, pid: 77, started_at: yard.nowMs });
  await yard.put({ id: 8, status: 'done', run_id: 7, pid: 77, started_at: yard.nowMs });
}

const idsOf = (found: readonly Pick<ImpossibleQueued, 'jobId'>[]) => found.map(({ jobId }) => jobId);

/** The statement that locks the rows of a page. */
const TOGETHER = /^select .* from .jobs. where .id. in \(/;

/** Impossible jobs 1 to 5, of which the first four are about to change. */
async function putImpossible(yard: Yard): Promise<void> {
  for (const id of [1, 2, 4, 5]) await yard.put({ id, run_id: 7, pid: 77 });
  await yard.put({ id: 3, started_at: yard.nowMs });
}

const changes = [
  (yard: Yard) => yard.set(1, { status: 'running' }),
  (yard: Yard) => yard.set(2, { pid: 99 }),
  (yard: Yard) => yard.set(3, { started_at: yard.nowMs + 5 }),
  (yard: Yard) => yard.set(4, { run_id: 8 }),
];

const changed = (yard: Yard) => [
  { status: 'running', run_id: 7, pid: 77 },
  { run_id: 7, pid: 99 },
  { started_at: yard.nowMs + 5 },
  { run_id: 8, pid: 77 },
  { status: 'queued', run_id: null, pid: null },
];

export const sanitizing: Proofs = {
  'findImpossibleQueued finds queued jobs that carry a run, a pid or a start, and changes nothing': async (yard) => {
    const worker = yard.start('a');
    await mixed(yard);
    const before = await yard.jobs();
    const found = await ok(findImpossibleQueued(worker.own()));
    expect(found).toMatchObject([
      { jobId: 2, taskId: 2, runId: 7, pid: 77 },
      { jobId: 4, taskId: null, runId: null, pid: 78, startedAt: null },
      { jobId: 5, runId: null, pid: null },
    ]);
    expect(idsOf(await ok(findImpossibleQueued(worker.own(), { limit: 2 })))).toEqual([2, 4]);
    expect(await yard.jobs()).toEqual(before);
    expect(worker.events).toEqual([]);
  },

  'a run alone, a pid alone and a start alone each make a queued job impossible': async (yard) => {
    const ownership = yard.start('a').own();
    for (const job of [{ run_id: 7 }, { pid: 77 }, { started_at: yard.nowMs }, {}]) await yard.put(job);
    expect(idsOf(await ok(findImpossibleQueued(ownership)))).toEqual([1, 2, 3]);
    expect((await ok(snapshot(ownership))).impossibleQueued).toBe(3);
  },

  'sanitizeImpossibleQueued repairs every impossible job, and tells what each carried': async (yard) => {
    const worker = yard.start('a');
    await mixed(yard);
    const { startedAt } = (await ok(findImpossibleQueued(worker.own())))[0] ?? {};
    const report = await ok(sanitizeImpossibleQueued(worker.own()));
    expect(report).toMatchObject({ found: 3, skipped: [] });
    expect(report.sanitized).toMatchObject([
      { jobId: 2, taskId: 2, runId: 7, pid: 77, startedAt },
      { jobId: 4, pid: 78 },
      { jobId: 5, pid: null },
    ]);
    const jobs = await yard.jobs();
    for (const { run_id, pid, started_at } of jobs.slice(0, 6))
      expect([run_id, pid, started_at]).toEqual([null, null, null]);
    expect(jobs.map(({ status }) => status).join()).toBe('queued,queued,queued,queued,queued,queued,running,done');
    expect(jobs[6]).toMatchObject({ run_id: 7, pid: 77 });
    expect(jobs[7]).toMatchObject({ run_id: 7, pid: 77 });
  },

  'sanitizeImpossibleQueued warns once of each find, and tells each repair': async (yard) => {
    const worker = yard.start('a');
    await mixed(yard);
    await ok(sanitizeImpossibleQueued(worker.own()));
    const [found, repaired] = [worker.told('queue.impossible-found'), worker.told('queue.sanitized')];
    expect(found.map(({ jobId, runId, pid, severity }) => [jobId, runId, pid, severity])).toEqual([
      [2, 7, 77, 'warning'],
      [4, null, 78, 'warning'],
      [5, null, null, 'warning'],
    ]);
    expect(repaired.map(({ jobId }) => jobId)).toEqual([2, 4, 5]);
    expect(JSON.parse(JSON.stringify(found))).toEqual(found);
    expect(found[2]?.startedAt).not.toBeNull();
  },

  'sanitizeImpossibleQueued finds nothing the second time': async (yard) => {
    const ownership = yard.start('a').own();
    await mixed(yard);
    await ok(sanitizeImpossibleQueued(ownership));
    const after = await yard.jobs();
    expect(await ok(sanitizeImpossibleQueued(ownership))).toMatchObject({
      found: 0,
      sanitized: [],
      skipped: [],
      complete: true,
    });
    expect(await yard.jobs()).toEqual(after);
  },

  'sanitizeImpossibleQueued changes nothing in a dry run': async (yard) => {
    const worker = yard.start('a');
    await mixed(yard);
    const before = await yard.jobs();
    expect(await ok(sanitizeImpossibleQueued(worker.own(), { dryRun: true }))).toEqual({
      found: 3,
      sanitized: [],
      skipped: [],
      unreadable: 0,
      complete: true,
    });
    expect(await yard.jobs()).toEqual(before);
    expect(worker.told('queue.sanitized')).toEqual([]);
    expect(worker.wire.matching(/^(insert|update|delete)/)).toEqual([]);
  },

  'sanitizeImpossibleQueued finds all across pages, however small, without a look at the same page twice': async (
    yard,
  ) => {
    const ownership = yard.start('a').own();
    const impossible = [1, 2, 5, 6, 7, 11];
    for (let id = 1; id <= 12; id += 1) await yard.put({ id, pid: impossible.includes(id) ? id : null });
    for (const batchSize of [1, 2, 3, 5, 12, 13]) {
      for (const id of impossible) await yard.set(id, { pid: id });
      const report = await ok(sanitizeImpossibleQueued(ownership, { batchSize }));
      expect(idsOf(report.sanitized)).toEqual(impossible);
    }
  },

  'sanitizeImpossibleQueued leaves a job alone that changed since it was found': async (yard) => {
    const worker = yard.start('a');
    await putImpossible(yard);
    worker.wire.meanwhile(TOGETHER, async (run) => {
      for (const change of changes) await change(yard);
      await run();
    });
    expect(await ok(sanitizeImpossibleQueued(worker.own()))).toMatchObject({ found: 5, skipped: [1, 2, 3, 4] });
    expect(await yard.jobs()).toMatchObject(changed(yard));
  },

  'sanitizeImpossibleQueued one by one leaves a job alone that changed since it was found': async (yard) => {
    const worker = yard.start('a');
    await putImpossible(yard);
    worker.wire.fault(TOGETHER, 'strange', 1);
    for (const change of changes) {
      worker.wire.meanwhile(yard.comparing, async (run) => {
        await change(yard);
        await run();
      });
    }
    expect(await ok(sanitizeImpossibleQueued(worker.own()))).toMatchObject({ found: 5, skipped: [1, 2, 3, 4] });
    expect(await yard.jobs()).toMatchObject(changed(yard));
  },

  'sanitizeImpossibleQueued skips a job that stands in the way of all, and repairs the rest': async (yard) => {
    const worker = yard.start('a');
    await mixed(yard);
    worker.wire.fault(TOGETHER, 'strange', 1);
    worker.wire.fault(yard.comparing, 'strange', 1);
    expect(await ok(sanitizeImpossibleQueued(worker.own()))).toMatchObject({ found: 3, skipped: [2] });
    expect(idsOf(await ok(findImpossibleQueued(worker.own())))).toEqual([2]);
  },

  'sanitizeImpossibleQueued can be broken off before and after any statement, and begun again': async (yard) => {
    await mixed(yard);
    const before = await yard.jobs();
    const whole = yard.start('whole');
    await ok(sanitizeImpossibleQueued(whole.own(), { batchSize: 2 }));
    const after = await yard.jobs();
    const statements = whole.wire.sent.length;
    expect(statements).toBeGreaterThan(5);
    for (let at = 0; at < statements; at += 1) {
      for (const end of ['refused', 'reply-lost'] as const) {
        for (const { id, run_id, pid, started_at } of before) await yard.set(id, { run_id, pid, started_at });
        const dying = yard.start(`dying-${at}-${end}`);
        for (let sent = 0; sent < at; sent += 1) dying.wire.meanwhile(/./, (run) => run());
        dying.wire.fault(/./, end, 1);
        dying.wire.fault(/./, 'refused');
        await failure(sanitizeImpossibleQueued(dying.own(), { batchSize: 2 }));
        await dying.db.destroy();
        // A server keeps the locks of a broken connection until it notices: those rows are for the next pass.
        while ((await ok(sanitizeImpossibleQueued(whole.own()))).skipped.length > 0);
        expect(await yard.jobs()).toEqual(after);
      }
    }
  },

  'sanitizeImpossibleQueued in two processes at once repairs each job once': async (yard) => {
    const [a, b] = [yard.start('a'), yard.start('b')];
    for (let id = 1; id <= 20; id += 1) await yard.put({ id, pid: id });
    const reports = await Promise.all([
      ok(sanitizeImpossibleQueued(a.own(), { batchSize: 3 })),
      ok(sanitizeImpossibleQueued(b.own(), { batchSize: 3 })),
    ]);
    const repaired = reports.flatMap(({ sanitized }) => idsOf(sanitized)).sort((x, y) => Number(x) - Number(y));
    expect(repaired).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  },

  'sanitizeImpossibleQueued works under every mode: an invariant is no feature': async (yard) => {
    for (const mode of ['off', 'draining', 'on'] as const) {
      const worker = yard.start(mode);
      await yard.put({ pid: 5 });
      expect(await ok(sanitizeImpossibleQueued(worker.own({ mode, scope: () => false, survey: 'off' })))).toMatchObject(
        { found: 1 },
      );
      expect(worker.wire.matching(/transition_lease/)).toEqual([]);
    }
  },

  'sanitizeImpossibleQueued ends with the failure of a connection that is lost': async (yard) => {
    const worker = yard.start('a');
    await mixed(yard);
    const lost = async (): Promise<void> => {
      expect(await failure(sanitizeImpossibleQueued(worker.own()))).toMatchObject({ kind: 'connection' });
    };
    worker.wire.fault(TOGETHER, 'refused');
    await lost();
    worker.wire.mend();
    worker.wire.fault(TOGETHER, 'strange');
    worker.wire.fault(yard.comparing, 'refused');
    await lost();
    worker.wire.mend();
    worker.wire.fault(/./, 'refused');
    await lost();
    worker.wire.mend();
    expect(idsOf((await ok(sanitizeImpossibleQueued(worker.own()))).sanitized)).toEqual([2, 4, 5]);
  },

  'a queued job with a dead worker and no start is claimable again, and claimed clean even unsanitized': async (
    yard,
  ) => {
    const ownership = yard.start('a').own();
    await yard.put({ id: 1, worker_id: 'dead-w', run_id: 7, pid: 77 });
    await yard.put({ id: 2, worker_id: 'dead-w', run_id: 7, pid: 77 });
    expect((await ok(claimNextJob(ownership)))?.jobId).toBe(1);
    expect(await yard.job(1)).toMatchObject({ status: 'running', run_id: null, pid: null, worker_id: null });
    await ok(sanitizeImpossibleQueued(ownership));
    expect(await yard.job(2)).toMatchObject({ status: 'queued', run_id: null, pid: null, worker_id: null });
    expect((await ok(claimNextJob(ownership)))?.jobId).toBe(2);
  },

  'snapshot counts the impossible jobs as they are now, under every mode': async (yard) => {
    const ownership = yard.start('a').own({ mode: 'off' });
    await mixed(yard);
    expect((await ok(snapshot(ownership))).impossibleQueued).toBe(3);
    await ok(sanitizeImpossibleQueued(ownership));
    const { impossibleQueued, counters } = await ok(snapshot(ownership));
    expect(impossibleQueued).toBe(0);
    expect(counters).toMatchObject({ impossibleFound: 3, sanitized: 3 });
  },

  'snapshot counts the jobs that wait and run, and says how long ago the oldest run started': async (yard) => {
    const ownership = yard.start('a').own();
    expect((await ok(snapshot(ownership))).jobCounts).toEqual({ queued: 0, running: 0, oldestRunningMs: null });
    await mixed(yard);
    const { length: queued } = (await yard.jobs()).filter(({ status }) => status === 'queued');
    const before = (await yard.jobs()).filter(({ status }) => status === 'running').length;
    await yard.put({ status: 'running', run_id: 7, started_at: yard.nowMs - 5_000 });
    await yard.put({ status: 'running', run_id: 8, started_at: yard.nowMs - 3_600_000 });
    await yard.put({ status: 'running', run_id: 9, started_at: null });
    const { jobCounts: jobs } = await ok(snapshot(ownership));
    expect(jobs).toMatchObject({ queued, running: before + 3 });
    expect(Math.abs((jobs?.oldestRunningMs ?? 0) - 3_600_000)).toBeLessThan(60_000);
  },
};
