import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import {
  acquireLease,
  acquireLeases,
  claimNextJob,
  createJobReaper,
  createTransitionOwnership,
  ensureSchema,
  inspectLease,
  resetRunOwnership,
  stampRunOwnership,
  updateStageCas,
} from 'transition-ownership';
import { afterEach, describe, expect, test } from 'vitest';
import { ownName } from '../contract/store.js';
import { makeSchemas, postgres, postgresPool } from '../contract/stores/postgres.js';
import { err, ok } from '../rig/proofs.js';

interface Jobs<Id> {
  id: Id;
  task_id: Id;
  status: 'queued' | 'running' | 'failed';
  run_id: Id | null;
  pid: number | null;
  host: string | null;
  pid_start: string | null;
  started_at: Date | null;
}

interface Tables<Id> {
  tasks: { id: Id; stage: 'deploy' | 'done' };
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
  host: 'host',
  pidStart: 'pid_start',
  startedAt: 'started_at',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
} as const;

/** A parser of 64-bit integers that many programs set, and that rounds. */
const rounding: pg.CustomTypesConfig = {
  getTypeParser: (oid, format): unknown =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
};

describe.skipIf(postgres.missing !== undefined)('PostgreSQL: columns of the caller', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** A schema whose ids and texts are of these types, with a task and a job of it. */
  const open = async <Id>({ id, text, value, ...config }: { id: string; text: string; value: Id } & pg.PoolConfig) => {
    const schema = ownName('columns');
    closing.push(await makeSchemas(schema));
    const db = new Kysely<Tables<Id>>({ dialect: new PostgresDialect({ pool: postgresPool(schema, config) }) });
    closing.push(() => db.destroy());
    await sql.raw(`create table tasks (id ${id} primary key, stage ${text})`).execute(db);
    await sql
      .raw(`create table jobs (id ${id} primary key, task_id ${id}, status ${text}, run_id ${id}, pid integer,
        host ${text}, pid_start ${text}, started_at timestamptz)`)
      .execute(db);
    await sql`insert into tasks (id, stage) values (${value}, 'deploy')`.execute(db);
    await sql`insert into jobs (id, task_id, status) values (${value}, ${value}, 'queued')`.execute(db);
    return db;
  };

  test('a stage in a column of fixed length is won, and told without its padding', async () => {
    const db = await open({ id: 'char(12)', text: 'char(90)', value: 'T1' });
    const ownership = createTransitionOwnership({ db, tasks, lease: { taskIdType: 'text' } });
    await ok(ensureSchema(ownership));
    expect(await err(updateStageCas(ownership, { taskId: 'T1', expected: 'done', next: 'deploy' }))).toMatchObject({
      type: 'lost-race',
      actual: 'deploy',
    });
    await ok(updateStageCas(ownership, { taskId: 'T1', expected: 'deploy', next: 'done' }));
    const lease = await ok(acquireLease(ownership, { taskId: 'T1', actor: 'monitor' }));
    const back = { taskId: 'T1', expected: 'done', next: 'deploy', lease, release: true } as const;
    expect(await ok(updateStageCas(ownership, back))).toMatchObject({ to: 'deploy', released: true });
  });

  test('a job whose ids are of fixed length is deferred to the finalizer of its task, and reset', async () => {
    const db = await open({ id: 'char(12)', text: 'char(90)', value: 'T1' });
    const identity = { bootId: 'boot', pid: 7, start: 'start', host: 'here' };
    const lease = { taskIdType: 'text', runIdType: 'text' } as const;
    const processes = { sight: () => ({ state: 'gone', start: null }) as const };
    const ownership = createTransitionOwnership({
      db,
      tasks,
      jobs: { ...jobs, idType: 'text' },
      lease,
      identity,
      processes,
    });
    await ok(ensureSchema(ownership));
    const job = await ok(claimNextJob(ownership));
    if (job === null) throw new Error('there is a job');
    expect(job).toMatchObject({ jobId: 'T1', taskId: 'T1' });
    expect(await ok(stampRunOwnership(ownership, { job, runId: 'R1', pid: 8 }))).toBe('stamped');
    await ok(acquireLease(ownership, { taskId: 'T1', actor: 'finalizer' }));
    const reaper = createJobReaper(ownership, {
      deadTicks: 1,
      finalizeGraceMs: 0,
      maxRunningMs: 7_200_000,
      onDead: 'fail',
    });
    expect(await ok(reaper.tick())).toMatchObject({ deferred: 1, reaped: 0 });
    const reset = { jobId: 'T1', expected: { runId: 'R1', pid: 8 } };
    expect(await ok(resetRunOwnership(ownership, reset))).toEqual({ reset: ['T1'], skipped: [] });
  });

  test('a bigint id is exact whatever parser the caller has set for it', async () => {
    const [id, neighbour] = [9_007_199_254_740_993n, 9_007_199_254_740_992n];
    const db = await open({ id: 'bigint', text: 'text', value: id, types: rounding });
    const lease = { taskIdType: 'bigint', runIdType: 'bigint' } as const;
    const ownership = createTransitionOwnership({ db, tasks, jobs: { ...jobs, idType: 'bigint' }, lease });
    await ok(ensureSchema(ownership));
    await sql`insert into tasks (id) values (${neighbour})`.execute(db);
    await ok(acquireLease(ownership, { taskId: id, actor: 'monitor', runId: id }));
    expect(await ok(inspectLease(ownership, id))).toMatchObject({ holder: { taskId: id, runId: id } });
    const requests = [id, neighbour].map((taskId) => ({ taskId, actor: 'finalizer' }));
    const { acquired, busy } = await ok(acquireLeases(ownership, requests));
    expect(busy).toMatchObject([{ taskId: id, holder: { actor: 'monitor', taskId: id } }]);
    expect(acquired).toMatchObject([{ taskId: neighbour }]);
    const job = await ok(claimNextJob(ownership));
    if (job === null) throw new Error('there is a job');
    expect(job).toMatchObject({ jobId: id, taskId: id });
    expect(await ok(stampRunOwnership(ownership, { job, runId: id, pid: 8 }))).toBe('stamped');
    const reset = { jobId: id, expected: { runId: id, pid: 8 } };
    expect(await ok(resetRunOwnership(ownership, reset))).toEqual({ reset: [id], skipped: [] });
  });
});
