import { type Kysely, sql } from 'kysely';
import { createTransitionOwnership, ensureSchema } from 'transition-ownership';
import { fillTasks, type Tables } from '../ownership.js';

/** What an orchestrator leaves behind: so many tasks that are finished, each with its job and its effect. */
export interface History {
  readonly finished: number;
  /** Jobs among them that are queued and carry a run's ownership all the same. */
  readonly impossible: number;
}

/** An ownership that uses all of the library. */
export type WholeOwnership = ReturnType<typeof makeWhole>;

function makeWhole(db: Kysely<Tables>) {
  return createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' },
    jobs: {
      table: 'jobs',
      id: 'id',
      taskId: 'task_id',
      status: 'status',
      runId: 'run_id',
      pid: 'pid',
      startedAt: 'started_at',
      statuses: { queued: 'queued', running: 'running', failed: 'failed' },
      singleHost: true,
    },
    effects: { table: 'transition_effect' },
  });
}

/** Makes an ownership and its tables, and fills them with a history. */
export async function wholeOwnership(db: Kysely<Tables>, { finished, impossible }: History): Promise<WholeOwnership> {
  await sql`delete from tasks`.execute(db);
  await fillTasks(db, finished);
  await sql`create table jobs (id integer primary key, task_id integer not null, status text not null, run_id integer,
    pid integer, started_at text)`.execute(db);
  await sql`create index jobs_by_status on jobs (status, id)`.execute(db);
  const step = sql.lit(impossible === 0 ? finished + 1 : finished / impossible);
  await sql`insert into jobs
    select id, id, iif(id % ${step} = 0, 'queued', 'done'), id, 4711, '2026-01-01 00:00:00.000' from tasks`.execute(db);
  const ownership = makeWhole(db);
  (await ensureSchema(ownership))._unsafeUnwrap();
  await sql`insert into transition_effect
    (task_id, effect, key, claim, fencing_token, owner, state, result, started_ms, applied_ms)
    select id, 'merge_pr', 'sha', 'claim ' || id, id, 'monitor', 'applied', 'null', 0, 1 from tasks`.execute(db);
  return ownership;
}
