import { sql } from 'kysely';
import {
  claimNextJob,
  clearedRunOwnership,
  createJobReaper,
  findImpossibleQueued,
  finishJob,
  requeueRunningJobs,
  resetRunOwnership,
  sanitizeImpossibleQueued,
  stampRunOwnership,
} from 'transition-ownership';
import { expect } from 'vitest';
import { failure, ok, type Proofs } from './proofs.js';
import type { TestOwnership, Yard } from './yard.js';

/** One job, claimed, returned and claimed again, all within one instant. */
export async function claimedTwice(yard: Yard) {
  const ownership = yard.start('a').ownClaims();
  await yard.put();
  const first = await claim(ownership);
  await ok(resetRunOwnership(ownership, { jobId: 1, expected: 'any' }));
  const second = await claim(ownership);
  return { ownership, first, second };
}

async function claim(ownership: TestOwnership) {
  const job = await ok(claimNextJob(ownership));
  if (job === null) throw new Error('there is no job');
  return job;
}

export const identity: Proofs = {
  'claimNextJob writes a nonce where claims are mapped, and none elsewhere': async (yard) => {
    const worker = yard.start('a');
    await yard.put({ claim: 'left behind' });
    await yard.put();
    const job = await claim(worker.ownClaims());
    expect(job.claim).toBe('a-1');
    expect((await yard.job(1)).claim).toBe('a-1');
    expect((await claim(worker.own())).claim).toBeNull();
    expect((await yard.job(2)).claim).toBeNull();
  },

  'of two claims within one instant only the later one is stamped': async (yard) => {
    const { ownership, first, second } = await claimedTwice(yard);
    expect(first.started).toBe(second.started);
    expect(await ok(stampRunOwnership(ownership, { job: first, runId: 7, pid: 77 }))).toBe('superseded');
    expect(await yard.job(1)).toMatchObject({ run_id: null, pid: null, claim: second.claim });
    expect(await ok(stampRunOwnership(ownership, { job: second, runId: 8, pid: 88 }))).toBe('stamped');
  },

  'a stamp whose reply was lost is found by the nonce of its own claim alone': async (yard) => {
    const worker = yard.start('a');
    const ownership = worker.ownClaims();
    await yard.put();
    const job = await claim(ownership);
    worker.wire.fault(/^update/, 'reply-lost', 1);
    expect(await ok(stampRunOwnership(ownership, { job, runId: 7, pid: 77 }))).toBe('stamped');
    await yard.set(1, { claim: 'another' });
    worker.wire.fault(/^update/, 'reply-lost', 1);
    expect(await ok(stampRunOwnership(ownership, { job, runId: 7, pid: 77 }))).toBe('superseded');
  },

  'resetRunOwnership of a claim leaves a later claim within the same instant alone': async (yard) => {
    const { ownership, first, second } = await claimedTwice(yard);
    const { runId, pid } = first;
    const reset = (claim: string | null) =>
      ok(resetRunOwnership(ownership, { jobId: 1, expected: { runId, pid, claim } }));
    expect(await reset(first.claim)).toEqual({ reset: [], skipped: [1] });
    expect(await reset(null)).toEqual({ reset: [], skipped: [1] });
    expect(await reset(second.claim)).toEqual({ reset: [1], skipped: [] });
    expect(await yard.job(1)).toMatchObject({ status: 'queued', started_at: null, claim: null });
  },

  'a tick leaves a job alone that was claimed again within the same instant': async (yard) => {
    const worker = yard.start('a');
    const dead = { run_id: 7, pid: 77, host: 'here', pid_start: 's', started_at: yard.nowMs - 60_000, claim: 'one' };
    await yard.put({ ...dead, status: 'running' });
    const options = { deadTicks: 1, finalizeGraceMs: 0, maxRunningMs: 3_600_000, onDead: 'requeue' } as const;
    worker.wire.meanwhile(yard.comparing, () => yard.set(1, { claim: 'two' }));
    const reaper = createJobReaper(worker.ownClaims(), options);
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 0, skipped: 1, complete: false });
    expect(await yard.job(1)).toMatchObject({ status: 'running', claim: 'two' });
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1, skipped: 0, complete: true });
    expect(await yard.job(1)).toMatchObject({ status: 'queued', claim: null });
  },

  'a tick counts the deaths of each claim by itself': async (yard) => {
    const worker = yard.start('a');
    const dead = { run_id: 7, pid: 77, host: 'here', pid_start: 's', started_at: yard.nowMs - 60_000, claim: 'one' };
    await yard.put({ ...dead, status: 'running' });
    const options = { deadTicks: 2, finalizeGraceMs: 0, maxRunningMs: 3_600_000, onDead: 'requeue' } as const;
    const reaper = createJobReaper(worker.ownClaims(), options);
    expect(await ok(reaper.tick())).toMatchObject({ suspected: 1 });
    await yard.set(1, { claim: 'two' });
    expect(await ok(reaper.tick())).toMatchObject({ suspected: 1, reaped: 0 });
    expect(await ok(reaper.tick())).toMatchObject({ reaped: 1 });
  },

  'a queued job that carries a claim alone is impossible, and is repaired if it is just as it was found': async (
    yard,
  ) => {
    const worker = yard.start('a');
    const ownership = worker.ownClaims();
    await yard.put({ claim: 'one' });
    await yard.put({ claim: 'two' });
    expect((await ok(findImpossibleQueued(ownership))).map(({ jobId }) => jobId)).toEqual([1, 2]);
    expect(await ok(findImpossibleQueued(worker.own()))).toEqual([]);
    worker.wire.meanwhile(/^select .* from .jobs. where .id. in \(/, () => yard.set(2, { claim: 'three' }));
    expect(await ok(sanitizeImpossibleQueued(ownership))).toMatchObject({ found: 2, skipped: [2], complete: false });
    expect((await yard.jobs()).map((job) => job.claim)).toEqual([null, 'three']);
    expect(await ok(sanitizeImpossibleQueued(ownership))).toMatchObject({ found: 1, complete: true });
  },

  'every way back to the queue clears the claim': async (yard) => {
    const worker = yard.start('a');
    const ownership = worker.ownClaims();
    expect(clearedRunOwnership(ownership)).toMatchObject({ claim: null });
    expect(clearedRunOwnership(worker.own())).not.toHaveProperty('claim');
    await yard.put();
    await claim(ownership);
    await ok(requeueRunningJobs(ownership, { owners: 'all' }));
    expect(await yard.job(1)).toMatchObject({ status: 'queued', claim: null });
  },

  'a claim of another mapping is refused before any statement': async (yard) => {
    const worker = yard.start('a');
    const [without, having] = [worker.own(), worker.ownClaims()];
    await yard.put();
    await yard.put();
    const [bare, named] = [await claim(without), await claim(having)];
    const sent = worker.wire.sent.length;
    const stamp = { runId: 7, pid: 77 };
    expect(() => stampRunOwnership(having, { job: bare, ...stamp })).toThrow(
      new TypeError('job.claim must be the text that claimNextJob returned, got null'),
    );
    expect(() => stampRunOwnership(without, { job: named, ...stamp })).toThrow(
      new TypeError('job.claim must be null without the option jobs.claim, got "a-1"'),
    );
    const expected = { runId: null, pid: null, claim: 'a-1' };
    expect(() => resetRunOwnership(without, { jobId: 2, expected })).toThrow('expected.claim must be null without');
    expect(worker.wire.sent).toHaveLength(sent);
    expect(
      await ok(resetRunOwnership(without, { jobId: 1, expected: { runId: null, pid: null, claim: bare.claim } })),
    ).toMatchObject({ reset: [1] });
  },

  'a stamp that fails has written nothing, and its job goes back by what the claim returned': async (yard) => {
    const worker = yard.start('a');
    const ownership = worker.ownClaims();
    await yard.put();
    const job = await claim(ownership);
    worker.wire.fault(/^update/, 'strange');
    const stamped = stampRunOwnership(ownership, { job, runId: 7, pid: 77 });
    expect(await failure(stamped)).toMatchObject({ type: 'store-failure' });
    worker.wire.mend();
    expect(await yard.job(1)).toMatchObject({ status: 'running', run_id: null, pid: null, host: null });
    const { jobId, runId, pid, claim: nonce } = job;
    const expected = { runId, pid, claim: nonce };
    expect(await ok(resetRunOwnership(ownership, { jobId, expected }))).toMatchObject({ reset: [1] });
  },

  'finishJob ends the job of a claim, and keeps who ran it': async (yard) => {
    const worker = yard.start('a');
    yard.sights.set(77, { state: 'exists', start: 's' });
    await yard.put({ attempts: 1 });
    const ownership = worker.ownClaims();
    const job = await claim(ownership);
    await ok(stampRunOwnership(ownership, { job, runId: 7, pid: 77 }));
    await yard.advance(50);
    const set = { attempts: sql<number>`attempts + 1`, last_status: sql<string>`status` };
    const sent = worker.wire.sent.length;
    expect(await ok(finishJob(ownership, { job, runId: 7, status: 'done', set }))).toBe('finished');
    expect(worker.wire.sent).toHaveLength(sent + 1);
    expect(await yard.job(1)).toMatchObject({
      status: 'done',
      run_id: 7,
      pid: 77,
      host: 'here',
      started_at: job.startedAtMs,
      finished_at: yard.nowMs,
      claim: job.claim,
      attempts: 2,
      last_status: 'running',
    });
    expect(await ok(finishJob(ownership, { job, status: 'failed' }))).toBe('superseded');
    expect(await yard.job(1)).toMatchObject({ status: 'done', attempts: 2 });
  },

  'finishJob ends no job of another claim, run, start or status': async (yard) => {
    const { ownership, first, second } = await claimedTwice(yard);
    await ok(stampRunOwnership(ownership, { job: second, runId: 8, pid: 88 }));
    const before = await yard.job(1);
    const done = { status: 'done' } as const;
    for (const request of [
      { job: first, ...done },
      { job: second, runId: 7, ...done },
      { job: { ...second, started: 'another' }, ...done },
      { jobId: 1, runId: 7, ...done },
      { jobId: 1, runId: 8, claim: first.claim, ...done },
      { jobId: 2, runId: 8, ...done },
    ] as const) {
      expect(await ok(finishJob(ownership, request))).toBe('superseded');
      expect(await yard.job(1)).toEqual(before);
    }
    await yard.set(1, { status: 'failed' });
    expect(await ok(finishJob(ownership, { job: second, status: 'done' }))).toBe('superseded');
    await yard.set(1, { status: 'running' });
    expect(await ok(finishJob(ownership, { jobId: 1, runId: 8, claim: second.claim, ...done }))).toBe('finished');
  },

  'finishJob finds its own end after a lost reply, and writes it once': async (yard) => {
    const worker = yard.start('a');
    const ownership = worker.own();
    await yard.put();
    const job = await claim(ownership);
    const set = { attempts: sql<number>`attempts + 1` };
    worker.wire.fault(/^update/, 'reply-lost', 1);
    expect(await ok(finishJob(ownership, { job, status: 'done', set }))).toBe('finished');
    expect(await yard.job(1)).toMatchObject({ status: 'done', attempts: 1 });
    await yard.set(1, { status: 'failed' });
    worker.wire.fault(/^update/, 'reply-lost', 1);
    expect(await ok(finishJob(ownership, { job, status: 'done' }))).toBe('superseded');
  },

  'finishJob in a transaction of the caller goes with it': async (yard) => {
    const worker = yard.start('a');
    const ownership = worker.own();
    await yard.put();
    const job = await claim(ownership);
    const undone = worker.db.transaction().execute(async (trx) => {
      expect(await ok(finishJob(ownership.using(trx), { job, status: 'done' }))).toBe('finished');
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await yard.job(1)).toMatchObject({ status: 'running', finished_at: null });
  },

  'finishJob refuses what cannot end a job before any statement': async (yard) => {
    const worker = yard.start('a');
    const ownership = worker.own();
    await yard.put();
    const job = await claim(ownership);
    const sent = worker.wire.sent.length;
    const untyped = finishJob as unknown as (...given: unknown[]) => unknown;
    for (const [request, message] of [
      [{ job, status: 'queued' }, 'status must be neither "queued" nor "running", got "queued"'],
      [{ job, status: 'running' }, 'status must be neither "queued" nor "running", got "running"'],
      [{ status: 'done' }, 'request must have either job or jobId, got undefined and undefined'],
      [{ job, jobId: 1, runId: 7, status: 'done' }, 'request must have either job or jobId'],
      [{ jobId: 1, status: 'done' }, 'request must have runId with jobId, got undefined'],
      [{ job, claim: 'x', status: 'done' }, 'claim is that of the job, got job and claim "x"'],
      [{ job, status: 'done', set: { finished_at: null } }, 'set must not have the column "finished_at"'],
    ] as const) {
      expect(() => untyped(ownership, request)).toThrow(message);
    }
    expect(worker.wire.sent).toHaveLength(sent);
  },
};
