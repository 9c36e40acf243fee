/** A queued job belongs to no run: claim, stamp, and a reaper that takes jobs from runs that are dead. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Kysely, sql } from 'kysely';
import type { Result } from 'neverthrow';
import {
  acquireLease,
  claimNextJob,
  createJobReaper,
  createTransitionOwnership,
  ensureSchema,
  type Failure,
  finishJob,
  releaseLease,
  stampRunOwnership,
  toError,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: string };
  jobs: {
    id: number;
    task_id: number;
    status: 'queued' | 'running' | 'succeeded' | 'failed';
    run_id: number | null;
    pid: number | null;
    started_at: string | null;
    finished_at: string | null;
    claim: string | null;
  };
}

const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
await db.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute();
await sql`create table jobs (id integer primary key, task_id integer not null, status text not null,
  run_id integer, pid integer, started_at text, finished_at text, claim text)`.execute(db);
const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  jobs: {
    table: 'jobs',
    id: 'id',
    taskId: 'task_id',
    status: 'status',
    runId: 'run_id',
    pid: 'pid',
    startedAt: 'started_at',
    finishedAt: 'finished_at',
    claim: 'claim', // tells two claims apart, however close together
    statuses: { queued: 'queued', running: 'running', failed: 'failed' },
    singleHost: true, // so that a bare pid is evidence
  },
});
orThrow(await ensureSchema(ownership));
const reaper = createJobReaper(ownership, { finalizeGraceMs: 0, maxRunningMs: 3_600_000, onDead: 'requeue' });
const row = () => db.selectFrom('jobs').select(['status', 'run_id', 'started_at']).executeTakeFirstOrThrow();

// Job 1 was queued again by its status alone, and still carries the run that had it.
const stale = { run_id: 40, pid: 999_999, started_at: '2025-01-01 00:00:00.000' };
await db
  .insertInto('jobs')
  .values({ id: 1, task_id: 1, status: 'queued', ...stale })
  .execute();
const first = orThrow(await reaper.tick());
console.log(`sanitized: ${first.sanitized}`, await row());

// Claimed, it is running and nobody's; stamped, it is the run's. The process is a real one.
const job = orThrow(await claimNextJob(ownership));
if (job === null) throw new Error('the queue is empty');
const run = spawn('sleep', ['600']);
const stamp = { job, runId: 41, pid: run.pid ?? 0 };
console.log(orThrow(await stampRunOwnership(ownership, stamp)));
console.log(`alive: ${orThrow(await reaper.tick()).alive}`);

// The process dies. While somebody is in the middle of moving its task, the job is left alone.
run.kill('SIGKILL');
await once(run, 'exit');
const lease = orThrow(await acquireLease(ownership, { taskId: 1, actor: 'finalizer' }));
console.log(`deferred: ${orThrow(await reaper.tick()).deferred}`);
orThrow(await releaseLease(ownership, lease));

// Dead at two ticks in a row, and nobody at work on its task: back to the queue, without a trace of the run.
const { outcomes } = orThrow(await reaper.tick());
console.log(outcomes, await row());

// Its next run ends by itself: only the claim that has the job can end it.
const next = orThrow(await claimNextJob(ownership));
if (next === null) throw new Error('the queue is empty');
const late = orThrow(await finishJob(ownership, { job, status: 'failed' }));
const ended = orThrow(await finishJob(ownership, { job: next, status: 'succeeded' }));
console.log(`the first claim: ${late}, the second: ${ended}`);

await db.destroy();

/** The value of a result; throws what it failed with. */
function orThrow<T>(result: Result<T, Failure>): T {
  if (result.isErr()) throw toError(result.error);
  return result.value;
}

// Output:
// sanitized: 1 { status: 'queued', run_id: null, started_at: null }
// stamped
// alive: 1
// deferred: 1
// [ { jobId: 1, outcome: 'reaped', reason: 'process-gone' } ] { status: 'queued', run_id: null, started_at: null }
// the first claim: superseded, the second: finished
