import { type Generated, Kysely } from 'kysely';
import { createTransitionOwnership, ensureSchema } from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

export interface Database {
  tasks: { id: number; stage: 'deploy-staging' | 'deploy' | 'done'; updated_at: string | null };
  jobs: {
    id: Generated<number>;
    task_id: number;
    status: 'queued' | 'running' | 'done' | 'failed';
    run_id: number | null;
    pid: number | null;
    started_at: string | null;
    finished_at: string | null;
    available_at: string | null;
  };
}

export const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await db.schema
  .createTable('tasks')
  .addColumn('id', 'integer', (column) => column.primaryKey())
  .addColumn('stage', 'text', (column) => column.notNull())
  .addColumn('updated_at', 'text')
  .execute();
await db.insertInto('tasks').values({ id: 1, stage: 'deploy-staging', updated_at: null }).execute();
await db.schema
  .createTable('jobs')
  .addColumn('id', 'integer', (column) => column.primaryKey())
  .addColumn('task_id', 'integer', (column) => column.notNull())
  .addColumn('status', 'text', (column) => column.notNull())
  .addColumn('run_id', 'integer')
  .addColumn('pid', 'integer')
  .addColumn('started_at', 'text')
  .addColumn('finished_at', 'text')
  .addColumn('available_at', 'text')
  .execute();
const job = { status: 'queued', run_id: null, pid: null, started_at: null, finished_at: null } as const;
await db
  .insertInto('jobs')
  .values([1, 1].map((task) => ({ ...job, task_id: task, available_at: null })))
  .execute();

export const ownership = createTransitionOwnership({
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
    finishedAt: 'finished_at',
    availableAt: 'available_at',
    statuses: { queued: 'queued', running: 'running', failed: 'failed' },
    singleHost: true,
  },
  effects: { table: 'transition_effect' },
});
(await ensureSchema(ownership))._unsafeUnwrap();
