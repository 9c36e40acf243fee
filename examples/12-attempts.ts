/** A job that kills its worker is taken three times and no more: the claim counts, and the claim caps. */
import { Kysely, sql } from 'kysely';
import type { Result } from 'neverthrow';
import {
  claimNextJob,
  createTransitionOwnership,
  type Failure,
  requeueRunningJobs,
  toError,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: string };
  jobs: {
    id: number;
    task_id: number | null;
    status: 'queued' | 'running' | 'failed';
    attempts: number;
    run_id: number | null;
    pid: number | null;
    started_at: string | null;
  };
}

const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
await sql`create table jobs (id integer primary key, task_id integer, status text not null,
  attempts integer not null default 0, run_id integer, pid integer, started_at text)`.execute(db);
await sql`insert into jobs (id, status) values (1, 'queued')`.execute(db);
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
    statuses: { queued: 'queued', running: 'running', failed: 'failed' },
  },
});

for (let life = 1; life <= 4; life += 1) {
  const job = await claimNextJob(ownership, {
    where: (eb) => eb('attempts', '<', 3),
    set: { attempts: (eb) => eb('attempts', '+', 1) }, // in the claim's own UPDATE: a crash behind it is counted
  });
  console.log(orThrow(job)?.row.attempts ?? 'nothing to do');
  // The worker is killed by it, and its successor finds what it left behind.
  orThrow(await requeueRunningJobs(ownership, { owners: 'all' }));
}

// What was tried so often is for a person.
const worn = await db.selectFrom('jobs').select(['id', 'status']).where('attempts', '>=', 3).execute();
console.log(worn);

await db.destroy();

/** The value of a result; throws what it failed with. */
function orThrow<T>(result: Result<T, Failure>): T {
  if (result.isErr()) throw toError(result.error);
  return result.value;
}

// Output:
// 1
// 2
// 3
// nothing to do
// [ { id: 1, status: 'queued' } ]
