import type { Generated, Kysely } from 'kysely';
import { createTransitionOwnership } from 'transition-ownership';
import { describe, test } from 'vitest';

interface Tables {
  tasks: { id: number; stage: 'deploy' | 'done' };
  'ci.jobs': Jobs;
  jobs: Jobs;
  big_jobs: Omit<Jobs, 'id'> & { id: string };
}

interface Jobs {
  id: Generated<number>;
  task_id: number | null;
  task_name: string;
  status: 'queued' | 'running' | 'failed' | 'done';
  run_id: number | null;
  run_name: string | null;
  pid: number | null;
  started_at: Date | null;
  finished_at: Date | null;
  available_at: Date;
  host: string | null;
  pid_start: string | null;
  worker_id: string | null;
  attempts: number;
}

declare const db: Kysely<Tables>;
const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;
const jobs = {
  table: 'jobs',
  id: 'id',
  taskId: 'task_id',
  status: 'status',
  runId: 'run_id',
  pid: 'pid',
  startedAt: 'started_at',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
} as const;

describe('the option jobs', () => {
  test('takes the columns of one table, written where it stands or elsewhere', () => {
    createTransitionOwnership({ db, tasks, jobs });
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, table: 'ci.jobs' } });
    createTransitionOwnership({
      db,
      tasks,
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
        host: 'host',
        pidStart: 'pid_start',
        statuses: { queued: 'queued', running: 'running', failed: 'failed' },
        singleHost: true,
        alsoClear: ['worker_id'],
        idType: 'integer',
      },
    });
  });

  test('follows the types of the ids', () => {
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, table: 'big_jobs', idType: 'bigint' } });
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, table: 'big_jobs', idType: 'text' } });
    createTransitionOwnership({ db, tasks, lease: { runIdType: 'text' }, jobs: { ...jobs, runId: 'run_name' } });
    // @ts-expect-error the ids of this table are text
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, table: 'big_jobs' } });
    // @ts-expect-error the ids of this table are numbers
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, idType: 'text' } });
    // @ts-expect-error runs are numbers here
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, runId: 'run_name' } });
    // @ts-expect-error runs are text here
    createTransitionOwnership({ db, tasks, lease: { runIdType: 'text' }, jobs });
    // @ts-expect-error tasks are numbers here
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, taskId: 'task_name' } });
  });

  test('takes no table, column or status that there is not', () => {
    // @ts-expect-error no such table
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, table: 'jobz' } });
    // @ts-expect-error a table without these columns
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, table: 'tasks' } });
    // @ts-expect-error no such column
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, status: 'state' } });
    // @ts-expect-error no such column
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, finishedAt: 'ended_at' } });
    // @ts-expect-error no such column
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, alsoClear: ['worker'] } });
    // @ts-expect-error no such status
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, statuses: { ...jobs.statuses, failed: 'broken' } } });
    // @ts-expect-error no such option
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, finishdAt: 'finished_at' } });
  });

  test('points at the part that is wrong, and not at the whole option', () => {
    createTransitionOwnership({
      db,
      tasks,
      jobs: {
        ...jobs,
        // @ts-expect-error no such column
        runId: 'run',
      },
    });
    createTransitionOwnership({
      db,
      tasks,
      jobs: {
        ...jobs,
        statuses: {
          ...jobs.statuses,
          // @ts-expect-error no such status
          failed: 'broken',
        },
      },
    });
    createTransitionOwnership({
      db,
      tasks,
      jobs: {
        ...jobs,
        // @ts-expect-error no such table
        table: 'jobz',
      },
    });
  });

  test('takes no column of the wrong type, and none to clear that cannot be null', () => {
    // @ts-expect-error a pid is a number
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, pid: 'worker_id' } });
    // @ts-expect-error the attempts are never null
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, pid: 'attempts' } });
    // @ts-expect-error an instant that is never null
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, startedAt: 'available_at' } });
    // @ts-expect-error the attempts are never null
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, alsoClear: ['attempts'] } });
    // @ts-expect-error a host is text
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, host: 'pid', pidStart: 'pid_start' } });
  });

  test('leaves out nothing that is needed', () => {
    const { runId: _run, ...without } = jobs;
    // @ts-expect-error the run is missing
    createTransitionOwnership({ db, tasks, jobs: without });
    // @ts-expect-error a status is missing
    createTransitionOwnership({ db, tasks, jobs: { ...jobs, statuses: { queued: 'queued', running: 'running' } } });
  });
});
