import { Kysely, sql } from 'kysely';
import {
  claimNextJob,
  createJobReaper,
  createTransitionOwnership,
  ensureSchema,
  resetRunOwnership,
  stampRunOwnership,
  withTransitionLease,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { ok } from './proofs.js';

interface Database {
  works: {
    id: number;
    stage: 'deploy' | 'done';
    status: 'queued' | 'running' | 'failed';
    run_id: number | null;
    pid: number | null;
    started_at: string | null;
  };
}

test('a table whose jobs are its tasks is both: the run and the lease of a row keep out of each other', async () => {
  const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
  onTestFinished(() => db.destroy());
  await sql`create table works (id integer primary key, stage text not null, status text not null, run_id integer,
    pid integer, started_at text)`.execute(db);
  const row = { id: 1, stage: 'deploy', status: 'queued', run_id: null, pid: null, started_at: null } as const;
  await db.insertInto('works').values(row).execute();
  const own = createTransitionOwnership({
    db,
    tasks: { table: 'works', id: 'id', stage: 'stage' },
    jobs: {
      table: 'works',
      id: 'id',
      taskId: 'id',
      status: 'status',
      runId: 'run_id',
      pid: 'pid',
      startedAt: 'started_at',
      statuses: { queued: 'queued', running: 'running', failed: 'failed' },
      singleHost: true,
    },
  });
  await ok(ensureSchema(own));

  const job = await ok(claimNextJob(own));
  if (job === null) throw new Error('there is one');
  expect(job).toMatchObject({ jobId: 1, taskId: 1 });
  expect(await ok(stampRunOwnership(own, { job, runId: 7, pid: 2 ** 22 + 1 }))).toBe('stamped'); // no pid of Linux
  const reaper = createJobReaper(own, { maxRunningMs: 7_200_000, finalizeGraceMs: 0, deadTicks: 1, onDead: 'requeue' });
  const moved = withTransitionLease(own, { taskId: 1, actor: 'finalizer', stage: 'deploy' }, async (held) => {
    expect(await ok(reaper.tick())).toMatchObject({ examined: 1, deferred: 1, reaped: 0 });
    return held.updateStage('done');
  });
  expect(await ok(moved)).toMatchObject({ from: 'deploy', to: 'done' });
  const reset = resetRunOwnership(own, { jobId: 1, expected: { runId: 7, pid: 2 ** 22 + 1 } });
  expect(await ok(reset)).toMatchObject({ reset: [1] });
  expect(await db.selectFrom('works').selectAll().execute()).toEqual([{ ...row, stage: 'done' }]);
});
