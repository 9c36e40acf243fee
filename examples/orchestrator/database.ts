import { type Generated, Kysely, sql } from 'kysely';
import { openSqlite } from 'transition-ownership/sqlite';

/** Where a task is on its way to production. */
export type Stage = 'deploy-staging' | 'deploy' | 'done';

/** The orchestrator's own tables: the library reads and writes them, and never alters them. */
export interface Database {
  tasks: {
    id: Generated<number>;
    repo: string;
    /** What is being shipped: it names every effect, so that the next commit's effects are others. */
    sha: string;
    stage: Stage;
    updated_at: string | null;
  };
  /** One job for each stage of a task. While it is queued it belongs to no run. */
  jobs: {
    id: Generated<number>;
    task_id: number;
    stage: Stage;
    status: 'queued' | 'running' | 'succeeded' | 'failed' | 'skipped';
    run_id: number | null;
    pid: number | null;
    started_at: string | null;
    finished_at: string | null;
  };
  /** Each try of a job, with how it ended: the fact by which a task may move on, whoever is left to move it. */
  runs: { id: Generated<number>; job_id: number; exit_code: number | null };
}

/** Opens the file that all processes share. */
export function openDatabase(file: string): Kysely<Database> {
  return new Kysely<Database>({ dialect: openSqlite(file) });
}

/** Creates what is not there yet. */
export async function createTables(db: Kysely<Database>): Promise<void> {
  await sql`create table if not exists tasks (
    id integer primary key, repo text not null, sha text not null, stage text not null, updated_at text)`.execute(db);
  await sql`create table if not exists jobs (
    id integer primary key, task_id integer not null references tasks, stage text not null, status text not null,
    run_id integer, pid integer, started_at text, finished_at text, unique (task_id, stage))`.execute(db);
  await sql`create index if not exists jobs_by_status on jobs (status, id)`.execute(db);
  await sql`create table if not exists runs (
    id integer primary key autoincrement, job_id integer not null references jobs, exit_code integer)`.execute(db);
}
