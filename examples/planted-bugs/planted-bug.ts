import { type Kysely, sql } from 'kysely';
import { createTransitionOwnership, ensureSchema } from 'transition-ownership';
import { memoryStore, type Scenario, type TestStore } from 'transition-ownership/testing';
import { orThrow } from '../shared/or-throw.js';

/** The tables of all ten bugs. */
export interface Tables {
  tasks: { id: number; stage: 'deploy' | 'done' };
  jobs: {
    id: number;
    task_id: number;
    status: 'queued' | 'running' | 'done' | 'failed';
    run_id: number | null;
    pid: number | null;
    started_at: string | null;
  };
  /** A lease as people write it by hand. */
  hand_lease: { task_id: number; owner: string; pid: number; expires_ms: number };
  /** A journal as people write it by hand. */
  hand_journal: { task_id: number; effect: string };
}

/** A mistake that orchestrators make, and the same code without it. */
export interface PlantedBug {
  /** What is wrong, in a few words. */
  readonly name: string;
  /** The code with the mistake, and the rule that it breaks. */
  readonly broken: Scenario<Tables>;
  /** The same with the library's verbs: every schedule keeps the rule. */
  readonly corrected: Scenario<Tables>;
}

/** What you would pass to `createTransitionOwnership`, without `db`. */
export const options = {
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
    singleHost: true,
  },
  effects: { table: 'transition_effect' },
} as const;

/** One task that waits to be deployed, with one queued job. */
export const seeded = {
  setup: async ({ store: { admin } }: { readonly store: TestStore<Tables> }): Promise<void> => {
    await admin.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute();
    const job = { id: 1, task_id: 1, status: 'queued', run_id: null, pid: null, started_at: null } as const;
    await admin.insertInto('jobs').values(job).execute();
  },
};

/** A database for the processes of a bug. */
export const openStore = (): TestStore<Tables> => memoryStore<Tables>({ migrate });

async function migrate(db: Kysely<Tables>): Promise<void> {
  await sql`create table tasks (id integer primary key, stage text)`.execute(db);
  await sql`create table jobs (id integer primary key, task_id integer, status text, run_id integer, pid integer,
    started_at text)`.execute(db);
  await sql`create table hand_lease (task_id integer, owner text, pid integer, expires_ms integer)`.execute(db);
  await sql`create unique index hand_lease_task on hand_lease (task_id)`.execute(db);
  await sql`create table hand_journal (task_id integer, effect text)`.execute(db);
  orThrow(await ensureSchema(createTransitionOwnership({ db, ...options })));
}
