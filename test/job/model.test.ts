import fc from 'fast-check';
import {
  type ClaimedJob,
  claimNextJob,
  createJobReaper,
  type JobReaper,
  requeueRunningJobs,
  resetRunOwnership,
  sanitizeImpossibleQueued,
  stampRunOwnership,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { ok } from './proofs.js';
import { countingStore, type JobStore, mysqlStore, postgresStore, sqliteStore } from './stores.js';
import { type JobRow, openYard, type Status, type TestOwnership, type Yard } from './yard.js';

type Own = NonNullable<TestOwnership['shape']>;

const HOUR = 3_600_000;
const JOBS = [1, 2, 3];

/** What the model knows of a job: its run by the number of the claim, and whether somebody spoilt its row. */
interface ModelJob {
  status: Status;
  /** The claim that has it, while it runs. */
  claim: number | null;
  stamped: boolean;
  /** True if a row was written past the library that is queued and carries a run. */
  spoilt: boolean;
}

/** Every claim that was ever made, with the process of its run. */
interface ModelClaim {
  readonly jobId: number;
  readonly startedAtMs: number;
  pid: number | null;
  alive: boolean;
}

interface Model {
  readonly jobs: Map<number, ModelJob>;
  readonly claims: ModelClaim[];
  nowMs: number;
}

interface Real {
  readonly yard: Yard;
  readonly ownership: TestOwnership;
  readonly reaper: JobReaper<Own>;
  readonly claimed: ClaimedJob<Own>[];
}

type Command = fc.AsyncCommand<Model, Real>;

/** The invariant of this whole folder, and the agreement of the rows with the model. */
async function agree(model: Model, { yard }: Real): Promise<void> {
  for (const row of await yard.jobs()) {
    const job = jobOf(model, row.id);
    expect(row.status).toBe(job.status);
    if (row.status === 'queued' && !job.spoilt) expect(ownershipOf(row)).toEqual([null, null, null]);
    if (row.status !== 'running') continue;
    const claim = job.claim === null ? undefined : model.claims[job.claim];
    expect(row.started_at).toBe(claim?.startedAtMs);
    expect(row.pid).toBe(job.stamped ? claim?.pid : null);
  }
}

const ownershipOf = ({ run_id, pid, started_at }: JobRow) => [run_id, pid, started_at];

function jobOf({ jobs }: Model, id: number): ModelJob {
  const job = jobs.get(id);
  if (job === undefined) throw new Error(`the model has no job ${id}`);
  return job;
}

function toQueue(job: ModelJob): void {
  Object.assign(job, { status: 'queued', claim: null, stamped: false, spoilt: false });
}

const isDead = (model: Model, { status, claim, stamped }: ModelJob): boolean =>
  status === 'running' && stamped && claim !== null && model.claims[claim]?.alive === false;

/** A command whose every run ends with the invariant. */
function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      // Two claims of one job differ by their start: no two happen in one millisecond.
      await real.yard.advance(1);
      model.nowMs = real.yard.nowMs;
      await run(model, real);
      await agree(model, real);
    },
    toString: () => name,
  };
}

const claim = command('claim', async (model, { ownership, claimed }) => {
  const job = await ok(claimNextJob(ownership));
  const first = JOBS.find((id) => jobOf(model, id).status === 'queued');
  expect(job?.jobId).toBe(first);
  if (job === null) return;
  claimed.push(job);
  model.claims.push({ jobId: job.jobId, startedAtMs: model.nowMs, pid: null, alive: false });
  Object.assign(jobOf(model, job.jobId), {
    status: 'running',
    claim: model.claims.length - 1,
    stamped: false,
    spoilt: false,
  });
});

const stamp = (pick: number): Command =>
  command(`stamp(${pick})`, async (model, { ownership, claimed, yard }) => {
    if (claimed.length === 0) return;
    const at = pick % claimed.length;
    const [job, entry] = [claimed[at], model.claims[at]];
    if (job === undefined || entry === undefined) throw new Error('the model forgot a claim');
    const row = jobOf(model, job.jobId);
    const own = row.claim === at && row.status === 'running' && !row.stamped;
    const pid = 1_000 + at;
    expect(await ok(stampRunOwnership(ownership, { job, runId: at + 1, pid }))).toBe(own ? 'stamped' : 'superseded');
    if (!own) return;
    yard.sights.set(pid, { state: 'exists', start: null });
    Object.assign(entry, { pid, alive: true });
    row.stamped = true;
  });

const crash = (pick: number): Command =>
  command(`crash(${pick})`, async (model, { yard }) => {
    const entry = model.claims[pick % Math.max(1, model.claims.length)];
    if (entry?.pid === undefined || entry.pid === null) return;
    yard.sights.delete(entry.pid);
    entry.alive = false;
  });

const finish = (id: number): Command =>
  command(`finish(${id})`, async (model, { yard }) => {
    const job = jobOf(model, id);
    if (job.status !== 'running') return;
    await yard.set(id, { status: 'done', finished_at: yard.nowMs });
    job.status = 'done';
  });

const retry = (id: number): Command =>
  command(`retry(${id})`, async (model, { ownership }) => {
    const job = jobOf(model, id);
    const report = await ok(resetRunOwnership(ownership, { jobId: id, from: 'done', expected: 'any' }));
    expect(report.reset).toEqual(job.status === 'done' ? [id] : []);
    if (job.status === 'done') toQueue(job);
  });

const requeue = (id: number, from: number): Command =>
  command(`requeue(${id}, ${from})`, async (model, { ownership }) => {
    const job = jobOf(model, id);
    const entry = model.claims[from % Math.max(1, model.claims.length)];
    const expected = { runId: typeof entry?.pid === 'number' ? entry.pid - 999 : null, pid: entry?.pid ?? null };
    const has = job.claim === null ? undefined : model.claims[job.claim];
    const same = job.status === 'running' && (job.stamped ? has?.pid : null) === expected.pid;
    const report = await ok(resetRunOwnership(ownership, { jobId: id, expected }));
    expect(report).toEqual(same ? { reset: [id], skipped: [] } : { reset: [], skipped: [id] });
    if (same) toQueue(job);
  });

const recover = command('recover', async (model, { ownership }) => {
  const dead = JOBS.filter((id) => isDead(model, jobOf(model, id)));
  const report = await ok(requeueRunningJobs(ownership, { owners: 'dead-only' }));
  expect(report.requeued.map(({ jobId }) => jobId)).toEqual(dead);
  for (const id of dead) toQueue(jobOf(model, id));
});

const reap = command('reap', async (model, { reaper }) => {
  const dead = JOBS.filter((id) => isDead(model, jobOf(model, id)));
  const late = JOBS.filter((id) => {
    const { status, claim: at } = jobOf(model, id);
    const entry = at === null ? undefined : model.claims[at];
    return status === 'running' && entry !== undefined && model.nowMs - entry.startedAtMs > HOUR;
  });
  const report = await ok(reaper.tick());
  const reaped = report.outcomes.map(({ jobId }) => jobId);
  expect(reaped).toEqual(JOBS.filter((id) => dead.includes(id) || late.includes(id)));
  expect(report.forced).toBe(late.length);
  for (const id of reaped) toQueue(jobOf(model, id));
  for (const id of JOBS) jobOf(model, id).spoilt = false;
});

const spoil = (id: number): Command =>
  command(`spoil(${id})`, async (model, { yard }) => {
    const job = jobOf(model, id);
    if (job.status !== 'queued') return;
    await yard.set(id, { run_id: 99, pid: 99, started_at: yard.nowMs - 5 * HOUR });
    job.spoilt = true;
  });

const sanitize = (batchSize: number): Command =>
  command(`sanitize(${batchSize})`, async (model, { ownership }) => {
    const spoilt = JOBS.filter((id) => jobOf(model, id).spoilt);
    const report = await ok(sanitizeImpossibleQueued(ownership, { batchSize }));
    expect(report.sanitized.map(({ jobId }) => jobId)).toEqual(spoilt);
    for (const id of spoilt) jobOf(model, id).spoilt = false;
  });

const wait = (hours: number): Command =>
  command(`wait(${hours})`, async (model, { yard }) => {
    await yard.advance(hours * HOUR);
    model.nowMs = yard.nowMs;
  });

const job = fc.constantFrom(...JOBS);
const commands = [
  fc.constant(claim),
  fc.nat(8).map(stamp),
  fc.nat(8).map(crash),
  job.map(finish),
  job.map(retry),
  fc.tuple(job, fc.nat(8)).map(([id, from]) => requeue(id, from)),
  fc.constant(recover),
  fc.constant(reap),
  job.map(spoil),
  fc.integer({ min: 1, max: 4 }).map(sanitize),
  fc.constant(wait(1)),
];

/** Nothing of a former history may be left for the next. */
async function begin(yard: Yard): Promise<{ model: Model; real: Real }> {
  await yard.outside.deleteFrom('jobs').execute();
  for (const id of JOBS) await yard.put({ id });
  const ownership = yard.start('model').own({ lease: { maxHoldMs: HOUR } });
  const reaper = createJobReaper(ownership, {
    deadTicks: 1,
    finalizeGraceMs: 0,
    maxRunningMs: HOUR,
    onDead: 'requeue',
  });
  const jobs = JOBS.map((id): [number, ModelJob] => [
    id,
    { status: 'queued', claim: null, stamped: false, spoilt: false },
  ]);
  return {
    model: { jobs: new Map(jobs), claims: [], nowMs: yard.nowMs },
    real: { yard, ownership, reaper, claimed: [] },
  };
}

async function explore(yard: Yard, numRuns: number, among = commands): Promise<void> {
  const property = fc.asyncProperty(fc.commands(among, { maxCommands: 40, size: 'max' }), async (steps) => {
    const { model, real } = await begin(yard);
    await fc.asyncModelRun(() => ({ model, real }), steps);
  });
  await fc.assert(property, { numRuns });
}

describe('whatever is done to jobs, a queued job belongs to no run', () => {
  const runs: [JobStore, number][] = [
    [sqliteStore, 150],
    [countingStore, 50],
    [postgresStore, 25],
    [mysqlStore, 25],
  ];
  for (const [store, numRuns] of runs) {
    test.skipIf(store.missing !== undefined)(`on ${store.name}`, { timeout: 120_000 }, async () => {
      await using yard = await openYard(store, { suite: 'model' });
      await explore(yard, numRuns);
    });
  }

  test('and the model notices a way back to the queue that leaves a pid behind', { timeout: 120_000 }, async () => {
    const mutate = (text: string) => text.replace(/, "pid" = null/g, '');
    await using yard = await openYard(sqliteStore, { mutate });
    await expect(explore(yard, 300)).rejects.toThrow();
  });

  test('and the model notices a stamp that does not ask whose claim it is', { timeout: 120_000 }, async () => {
    const mutate = (text: string) =>
      text.startsWith('update "jobs" set "run_id" = ?')
        ? text.replace('cast("started_at" as text) is ?', "coalesce(?, '') is not null")
        : text;
    await using yard = await openYard(sqliteStore, { mutate });
    await expect(
      explore(yard, 600, [fc.constant(claim), fc.nat(8).map(stamp), job.map(finish), job.map(retry)]),
    ).rejects.toThrow();
  });
});
