import { type Kysely, sql } from 'kysely';
import { createTransitionOwnership, ensureSchema } from 'transition-ownership';
import {
  eventuallyFree,
  exactlyOneStageWriter,
  memoryStore,
  noLeaseOutlivesItsBound,
  noQueuedRunOwnership,
  type Process,
  sqliteFileStore,
  type TestStore,
  tokensOnlyGrow,
} from 'transition-ownership/testing';

/** The tables of an orchestrator in small. */
export interface Tables {
  tasks: { id: number; stage: 'staging' | 'deploy' | 'done' };
  jobs: {
    id: number;
    task_id: number;
    status: 'queued' | 'running' | 'done' | 'failed';
    run_id: number | null;
    pid: number | null;
    started_at: string | null;
  };
}

const jobs = {
  table: 'jobs',
  id: 'id',
  taskId: 'task_id',
  status: 'status',
  runId: 'run_id',
  pid: 'pid',
  startedAt: 'started_at',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
  singleHost: true,
} as const;

/** The options of every ownership in the yard. */
export const options = {
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  jobs,
  effects: { table: 'transition_effect' },
  lease: { ttlMs: 9_000, renewEveryMs: 3_000, maxHoldMs: 60_000 },
} as const;

/** An ownership of a simulated process. */
export const ownershipOf = (process: Process<Tables>) => process.createOwnership(options);

/** Two tasks, and a queued job for each. */
export const seeded = {
  setup: async ({ store: { admin } }: { readonly store: TestStore<Tables> }): Promise<void> => {
    await admin
      .insertInto('tasks')
      .values([1, 2].map((id) => ({ id, stage: 'deploy' as const })))
      .execute();
    const job = { status: 'queued', run_id: null, pid: null, started_at: null } as const;
    await admin
      .insertInto('jobs')
      .values([1, 2].map((id) => ({ ...job, id, task_id: id })))
      .execute();
  },
};

/** What holds after every step, whatever runs. */
export const always = [
  exactlyOneStageWriter<Tables>(),
  noLeaseOutlivesItsBound<Tables>(),
  tokensOnlyGrow<Tables>(),
  noQueuedRunOwnership<Tables>(),
  eventuallyFree<Tables>(),
];

/** The stores that the scenarios run on. */
export const stores = {
  memory: () => memoryStore<Tables>({ migrate, transactions: 'global-lock' }),
  'a WAL file': () => sqliteFileStore<Tables>({ migrate }),
} as const;

async function migrate(db: Kysely<Tables>): Promise<void> {
  await sql`create table if not exists tasks (id integer primary key, stage text)`.execute(db);
  await sql`create table if not exists jobs (id integer primary key, task_id integer, status text, run_id integer,
    pid integer, started_at text)`.execute(db);
  (await ensureSchema(createTransitionOwnership({ db, ...options })))._unsafeUnwrap();
}
