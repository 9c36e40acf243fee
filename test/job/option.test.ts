import { Kysely, SqliteDialect, sql } from 'kysely';
import {
  claimNextJob,
  clearedRunOwnership,
  createJobReaper,
  createTransitionOwnership,
  findImpossibleQueued,
  recoverOnStartup,
  requeueRunningJobs,
  resetRunOwnership,
  sanitizeImpossibleQueued,
  stampRunOwnership,
} from 'transition-ownership';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ok } from './proofs.js';
import { sqliteStore } from './stores.js';
import { mapped, openYard, type Tables, type TestOwnership, type Worker, type Yard } from './yard.js';

/** The verbs as code without types calls them. */
const verbs = {
  claimNextJob,
  stampRunOwnership,
  resetRunOwnership,
  clearedRunOwnership,
  requeueRunningJobs,
  findImpossibleQueued,
  sanitizeImpossibleQueued,
  createJobReaper,
} as unknown as Readonly<Record<string, (ownership: unknown, request: unknown) => unknown>>;

function call(verb: string, ownership: unknown, request: unknown): unknown {
  const called = verbs[verb];
  if (called === undefined) throw new Error(`there is no verb ${verb}`);
  return called(ownership, request);
}

describe('the option jobs', () => {
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({
      database: async () => {
        throw new Error('a statement was sent');
      },
    }),
  });
  const own = (jobs: object) =>
    createTransitionOwnership({
      db,
      tasks: { table: 'tasks', id: 'id', stage: 'stage' },
      jobs: { ...mapped, ...jobs },
    });

  test.each([
    ['a table', { table: undefined }, /jobs\.table must be a string, got undefined/],
    ['an id', { id: 7 }, /jobs\.id must be a string, got 7/],
    ['a task id', { taskId: '' }, /jobs\.taskId must not be empty/],
    ['a status', { status: null }, /jobs\.status must be a string, got null/],
    ['a run id', { runId: undefined }, /jobs\.runId must be a string/],
    ['a pid', { pid: undefined }, /jobs\.pid must be a string/],
    ['a start', { startedAt: undefined }, /jobs\.startedAt must be a string/],
    ['an end', { finishedAt: 3 }, /jobs\.finishedAt must be a string, got 3/],
    [
      'two meanings of one column',
      { pid: 'run_id' },
      /jobs\.runId and jobs\.pid must be two columns, got "run_id" for both/,
    ],
    [
      'a status that is also cleared',
      { alsoClear: ['status'] },
      /jobs\.status and jobs\.alsoClear must be two columns/,
    ],
    ['a list that is none', { alsoClear: 'worker_id' }, /jobs\.alsoClear must be an array, got "worker_id"/],
    ['no statuses', { statuses: undefined }, /jobs\.statuses must be an object, got undefined/],
    [
      'a status without spelling',
      { statuses: { queued: 'q', running: 'r' } },
      /jobs\.statuses\.failed must be a string/,
    ],
    [
      'two statuses of one spelling',
      { statuses: { queued: 'q', running: 'q', failed: 'f' } },
      /jobs\.statuses\.queued and jobs\.statuses\.running must differ, got "q" for both/,
    ],
    ['an id type', { idType: 'uuid' }, /jobs\.idType must be one of "integer", "bigint", "text", got "uuid"/],
    ['a flag', { singleHost: 'yes' }, /jobs\.singleHost must be a boolean, got "yes"/],
    ['a host without a start mark', { pidStart: undefined }, /mapped together or not at all, got "host" and undefined/],
    [
      'a start mark without a host',
      { host: undefined },
      /mapped together or not at all, got undefined and "pid_start"/,
    ],
    ['a name that there is not', { finishdAt: 'finished_at' }, /jobs has no option "finishdAt"/],
  ])('is refused at construction for %s', (_title, jobs, message) => {
    expect(() => own(jobs)).toThrow(message);
  });

  test('is refused where it is no object', () => {
    const options = { db, tasks: { table: 'tasks', id: 'id', stage: 'stage' }, jobs: 'jobs' } as const;
    expect(() => createTransitionOwnership(options as never)).toThrow(/jobs must be an object, got "jobs"/);
  });

  test('is checked without a statement', () => {
    expect(() => own({})).not.toThrow();
  });
});

describe('a verb on jobs', () => {
  let yard: Yard;
  let worker: Worker;
  let ownership: TestOwnership;
  beforeEach(async () => {
    yard = await openYard(sqliteStore);
    worker = yard.start('a');
    ownership = worker.own();
  });
  afterEach(() => yard[Symbol.asyncDispose]());

  const job = { jobId: 1, started: '2026-01-02', startedAtMs: 1 };
  const reaper = { finalizeGraceMs: 1, maxRunningMs: 3_600_000, onDead: 'requeue' };
  const misuses: [verb: string, wrong: string, request: unknown, message: RegExp][] = [
    ['claimNextJob', 'of a request', null, /request must be an object, got null/],
    ['claimNextJob', 'of a where', { where: 'id = 1' }, /where must be an object or a function/],
    ['claimNextJob', 'of an undefined value', { where: { kind: undefined } }, /where\.kind is undefined/],
    ['claimNextJob', 'of an expression as where', { where: sql`1 = 1` }, /where must be an object or a function/],
    [
      'claimNextJob',
      'of a where that is a map',
      { where: new Map([['kind', 'a']]) },
      /where must be an object of columns/,
    ],
    [
      'claimNextJob',
      'of a where by inheritance',
      { where: Object.create({ kind: 'a' }) as object },
      /must be an object of columns/,
    ],
    ['claimNextJob', 'of a where by symbols', { where: { [Symbol('kind')]: 'a' } }, /must be an object of columns/],
    ['claimNextJob', 'of a where to come', { where: Promise.resolve({}) }, /where must be an object of columns/],
    [
      'claimNextJob',
      'of a where that says nothing',
      { where: () => {} },
      /where must return an expression, got undefined/,
    ],
    [
      'claimNextJob',
      'of a where that is async',
      { where: async () => sql`1 = 1` },
      /where must return an expression, got a Promise/,
    ],
    ['claimNextJob', 'of an order', { orderBy: 7 }, /orderBy must name a column/],
    ['claimNextJob', 'of an order without column', { orderBy: {} }, /orderBy\.column must be a string/],
    ['claimNextJob', 'of a direction', { orderBy: { column: 'id', direction: 'up' } }, /"asc" or "desc", got "up"/],
    ['claimNextJob', 'of a set', { set: 7 }, /set must be an object of columns, got 7/],
    ['claimNextJob', 'of a set that is a list', { set: ['worker'] }, /set must be an object of columns, got an array/],
    ['claimNextJob', 'of an undefined set', { set: { kind: undefined } }, /set\.kind is undefined/],
    ['claimNextJob', 'of a set that is a map', { set: new Map([['kind', 'a']]) }, /set must be an object of columns/],
    ['claimNextJob', 'of a set that says nothing', { set: { kind: () => {} } }, /set\.kind must return an expression/],
    ['claimNextJob', 'of an id in capitals', { set: { ID: 9 } }, /set must not have the column "ID"/],
    [
      'claimNextJob',
      'of a cleared column in capitals',
      { set: { WORKER_ID: 'w' } },
      /set must name the column "worker_id" as the option jobs does, got "WORKER_ID"/,
    ],
    ['claimNextJob', 'of a status', { set: { status: 'done' } }, /set must not have the column "status"/],
    ['claimNextJob', 'of a start', { set: { started_at: 'x' } }, /set must not have the column "started_at"/],
    ['stampRunOwnership', 'of an id', { job: 1, runId: 7, pid: 1 }, /job must be an object, got 1/],
    [
      'stampRunOwnership',
      'of another job',
      { job: { jobId: 1 }, runId: 7, pid: 1 },
      /job must be a job as claimNextJob returned it/,
    ],
    [
      'stampRunOwnership',
      'of a text id',
      { job: { ...job, jobId: '1' }, runId: 7, pid: 1 },
      /job\.jobId must be a number, got "1"/,
    ],
    ['stampRunOwnership', 'of no run', { job, runId: null, pid: 1 }, /runId must be a number, got null/],
    ['stampRunOwnership', 'of no pid', { job, runId: 7, pid: null }, /pid must be a number, got null/],
    ['stampRunOwnership', 'of pid 0', { job, runId: 7, pid: 0 }, /pid must be a whole number from 1 on, got 0/],
    ['resetRunOwnership', 'of neither', { expected: 'any' }, /either jobId or jobIds, got undefined and undefined/],
    [
      'resetRunOwnership',
      'of both',
      { jobId: 1, jobIds: [1], expected: 'any' },
      /either jobId or jobIds, got 1 and an array/,
    ],
    ['resetRunOwnership', 'of a text id', { jobId: '1', expected: 'any' }, /jobId must be a number, got "1"/],
    ['resetRunOwnership', 'of a twin', { jobIds: [1, 2, 1], expected: 'any' }, /name each job once, got 1 twice/],
    [
      'resetRunOwnership',
      'of too many',
      { jobIds: Array.from({ length: 501 }, (_, at) => at), expected: 'any' },
      /at most 500 ids, got 501/,
    ],
    ['resetRunOwnership', 'without expected', { jobId: 1 }, /expected must be an object, got undefined/],
    [
      'resetRunOwnership',
      'of an undefined run',
      { jobId: 1, expected: { runId: undefined, pid: 1 } },
      /expected\.runId must be a number, got undefined/,
    ],
    [
      'resetRunOwnership',
      'of an undefined pid',
      { jobId: 1, expected: { runId: 1 } },
      /expected\.pid must be a number, got undefined/,
    ],
    ['resetRunOwnership', 'of an empty status', { jobId: 1, from: '', expected: 'any' }, /from must not be empty/],
    [
      'resetRunOwnership',
      'of a cleared column',
      { jobId: 1, expected: 'any', set: { worker_id: 'w' } },
      /set must not have the column "worker_id"/,
    ],
    ['requeueRunningJobs', 'of nobody', {}, /owners must be "all" or "dead-only", got undefined/],
    ['findImpossibleQueued', 'of a limit', { limit: 0 }, /limit must be a whole number from 1 to 100000, got 0/],
    ['sanitizeImpossibleQueued', 'of a flag', { dryRun: 'yes' }, /dryRun must be a boolean, got "yes"/],
    [
      'sanitizeImpossibleQueued',
      'of a batch',
      { batchSize: 10_001 },
      /batchSize must be a whole number from 1 to 10000, got 10001/,
    ],
    ['createJobReaper', 'of nothing', undefined, /options must be an object, got undefined/],
    ['createJobReaper', 'of no grace', { ...reaper, finalizeGraceMs: undefined }, /finalizeGraceMs must be a number/],
    ['createJobReaper', 'of no bound', { ...reaper, maxRunningMs: undefined }, /maxRunningMs must be a number/],
    [
      'createJobReaper',
      'of no ticks',
      { ...reaper, deadTicks: 0 },
      /deadTicks must be a whole number from 1 to 1000, got 0/,
    ],
    [
      'createJobReaper',
      'of no time',
      { ...reaper, probeTimeoutMs: 0 },
      /probeTimeoutMs must be a whole number of milliseconds from 1 to 31536000000, got 0/,
    ],
    [
      'createJobReaper',
      'of a short bound',
      { ...reaper, maxRunningMs: 3_599_999 },
      /got maxRunningMs 3599999 and lease\.maxHoldMs 3600000/,
    ],
    [
      'createJobReaper',
      'of no policy',
      { ...reaper, onDead: 'drop' },
      /onDead must be "requeue", "fail" or a function, got "drop"/,
    ],
    ['createJobReaper', 'of a probe', { ...reaper, probe: true }, /probe must be a function, got true/],
    ['createJobReaper', 'of a gap', { ...reaper, maxGapMs: -1 }, /maxGapMs must be a whole number/],
  ];
  test.each(misuses)('throws at once, and sends nothing: %s %s', (verb, _wrong, request, message) => {
    expect(() => call(verb, ownership, request)).toThrow(message);
    expect(worker.wire.sent).toEqual([]);
  });

  test('throws TypeError on an ownership that was made without the option jobs, and sends nothing', () => {
    const without = createTransitionOwnership(worker.base());
    for (const verb of Object.keys(verbs)) {
      expect(() => call(verb, without, {})).toThrow(TypeError);
      expect(() => call(verb, without, {})).toThrow(`${verb} needs an ownership that was made with the option jobs`);
    }
    expect(worker.wire.sent).toEqual([]);
  });

  test('createJobReaper refuses a transaction: a reaper outlives it', async () => {
    await worker.db.transaction().execute(async (trx) => {
      expect(() => call('createJobReaper', ownership.using(trx), reaper)).toThrow(/not one made by using\(trx\)/);
    });
  });

  test('that cannot bind a value of the caller’s has done nothing, and says so', async () => {
    const id = await yard.put();
    for (const value of [true, new Date(0), 2n ** 70n]) {
      const failed = await claimNextJob(ownership, { where: { kind: value as never } });
      expect(failed._unsafeUnwrapErr()).toMatchObject({
        type: 'store-failure',
        retryable: false,
        outcome: 'not-applied',
      });
    }
    expect(await yard.job(id)).toMatchObject({ status: 'queued' });
  });

  test('answers frozen lists, whatever it did', async () => {
    await yard.put({ pid: 77 });
    await yard.put({ status: 'running', started_at: yard.nowMs });
    const ticked = await ok(createJobReaper(ownership, { ...reaper, onDead: 'requeue' }).tick());
    await yard.set(1, { pid: 77 });
    const sanitized = await ok(sanitizeImpossibleQueued(ownership));
    const requeued = await ok(requeueRunningJobs(ownership, { owners: 'all' }));
    const reset = await ok(resetRunOwnership(ownership, { jobIds: [1, 2], expected: 'any' }));
    const recovered = await ok(recoverOnStartup(ownership, { jobs: 'all' }));
    const lists = [ticked, sanitized, requeued, reset, recovered].flatMap((report) =>
      Object.values(report).filter(Array.isArray),
    );
    expect(lists.length).toBeGreaterThan(8);
    expect(lists.map((list) => Object.isFrozen(list))).toEqual(lists.map(() => true));
  });

  test('claims with bare pids are no evidence without singleHost, and are with it', async () => {
    const { host: _host, pidStart: _start, ...bare } = mapped;
    await yard.put({ status: 'running', run_id: 7, pid: 77, started_at: yard.nowMs });
    const base = worker.base();
    const careful = createTransitionOwnership({ ...base, jobs: bare });
    expect(await ok(requeueRunningJobs(careful, { owners: 'dead-only' }))).toMatchObject({ kept: [1] });
    const alone = createTransitionOwnership({ ...base, jobs: { ...bare, singleHost: true } });
    expect(await ok(requeueRunningJobs(alone, { owners: 'dead-only' }))).toMatchObject({ requeued: [{ jobId: 1 }] });
  });
});
