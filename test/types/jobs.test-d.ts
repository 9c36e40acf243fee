import { type Generated, type Kysely, sql } from 'kysely';
import {
  type ClaimedJob,
  claimNextJob,
  clearedRunOwnership,
  createJobReaper,
  createTransitionOwnership,
  findImpossibleQueued,
  requeueRunningJobs,
  resetRunOwnership,
  type ShapeWithJobs,
  sanitizeImpossibleQueued,
  stampRunOwnership,
  type TransitionOwnership,
} from 'transition-ownership';
import { describe, expectTypeOf, test } from 'vitest';

interface Tables {
  tasks: { id: number; stage: 'deploy' | 'done' };
  jobs: {
    id: Generated<number>;
    task_id: number;
    status: 'queued' | 'running' | 'failed' | 'done';
    run_id: number | null;
    pid: number | null;
    started_at: Date | null;
    worker_id: string | null;
    attempts: number;
  };
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
  alsoClear: ['worker_id'],
} as const;
const ownership = createTransitionOwnership({ db, tasks, jobs });
type Own = NonNullable<typeof ownership.shape>;
const limits = { finalizeGraceMs: 1, maxRunningMs: 3_600_000 };

describe('the verbs on jobs', () => {
  test('do not compile on an ownership without jobs', () => {
    const without = createTransitionOwnership({ db, tasks });
    // @ts-expect-error there are no jobs
    void claimNextJob(without);
    // @ts-expect-error there are no jobs
    void clearedRunOwnership(without);
    // @ts-expect-error there are no jobs
    void requeueRunningJobs(without, { owners: 'all' });
    // @ts-expect-error there are no jobs
    void resetRunOwnership(without, { jobId: 1, expected: 'any' });
    // @ts-expect-error there are no jobs
    void findImpossibleQueued(without);
    // @ts-expect-error there are no jobs
    void sanitizeImpossibleQueued(without);
    // @ts-expect-error there are no jobs
    void createJobReaper(without, { ...limits, onDead: 'fail' });
  });

  test('take an ownership of whatever jobs', () => {
    const general: TransitionOwnership<ShapeWithJobs> = ownership;
    void claimNextJob(general);
    expectTypeOf(ownership.using(db)).toEqualTypeOf(ownership);
  });

  test('claimNextJob answers the row as its table has it', async () => {
    const claimed = (await claimNextJob(ownership))._unsafeUnwrap();
    expectTypeOf(claimed).toEqualTypeOf<ClaimedJob<Own> | null>();
    if (claimed === null) return;
    expectTypeOf(claimed.jobId).toEqualTypeOf<number>();
    expectTypeOf(claimed.taskId).toEqualTypeOf<number | null>();
    expectTypeOf(claimed.runId).toEqualTypeOf<null>();
    expectTypeOf(claimed.startedAt).toEqualTypeOf<Date | null>();
    expectTypeOf(claimed.row.attempts).toEqualTypeOf<number>();
    expectTypeOf(claimed.row.status).toEqualTypeOf<'queued' | 'running' | 'failed' | 'done'>();
  });

  test('claimNextJob takes conditions, an order and columns of that table', () => {
    void claimNextJob(ownership, { where: { worker_id: null, attempts: 3 }, orderBy: 'attempts' });
    void claimNextJob(ownership, { where: (eb) => eb('attempts', '<', 3) });
    void claimNextJob(ownership, { orderBy: ['attempts', { column: 'id', direction: 'desc' }] });
    void claimNextJob(ownership, { set: { worker_id: 'w', attempts: (eb) => eb('attempts', '+', 1) } });
    void claimNextJob(ownership, { set: { attempts: sql<number>`attempts + 1` } });
    // @ts-expect-error no such column
    void claimNextJob(ownership, { where: { worker: null } });
    // @ts-expect-error the attempts are a number
    void claimNextJob(ownership, { where: { attempts: '3' } });
    // @ts-expect-error no such column
    void claimNextJob(ownership, { where: (eb) => eb('tries', '<', 3) });
    // @ts-expect-error no such column
    void claimNextJob(ownership, { orderBy: 'tries' });
    // @ts-expect-error no such direction
    void claimNextJob(ownership, { orderBy: { column: 'id', direction: 'up' } });
    // @ts-expect-error the attempts are a number
    void claimNextJob(ownership, { set: { attempts: 'many' } });
    // @ts-expect-error an expression of the wrong type
    void claimNextJob(ownership, { set: { attempts: sql<string>`'many'` } });
    // @ts-expect-error the library writes the status
    void claimNextJob(ownership, { set: { status: 'done' } });
    // @ts-expect-error the library writes the run
    void claimNextJob(ownership, { set: { run_id: 7 } });
  });

  test('stampRunOwnership takes a job that was claimed, not an id', async () => {
    const job = (await claimNextJob(ownership))._unsafeUnwrap();
    // @ts-expect-error there may be no job
    void stampRunOwnership(ownership, { job, runId: 7, pid: 77 });
    if (job === null) return;
    const stamped = (await stampRunOwnership(ownership, { job, runId: 7, pid: 77 }))._unsafeUnwrap();
    expectTypeOf(stamped).toEqualTypeOf<'stamped' | 'superseded'>();
    // @ts-expect-error an id is no claim
    void stampRunOwnership(ownership, { job: 1, runId: 7, pid: 77 });
    // @ts-expect-error runs are numbers
    void stampRunOwnership(ownership, { job, runId: '7', pid: 77 });
  });

  test('resetRunOwnership asks for what was seen, and one or more jobs', async () => {
    const seen = { runId: 7, pid: null };
    const { reset } = (await resetRunOwnership(ownership, { jobId: 1, expected: seen }))._unsafeUnwrap();
    expectTypeOf(reset).toEqualTypeOf<readonly number[]>();
    void resetRunOwnership(ownership, { jobIds: [1, 2], from: 'failed', expected: 'any', set: { attempts: 0 } });
    // @ts-expect-error what is expected is missing
    void resetRunOwnership(ownership, { jobId: 1 });
    // @ts-expect-error half of what is expected is missing
    void resetRunOwnership(ownership, { jobId: 1, expected: { runId: 7 } });
    // @ts-expect-error there is no job
    void resetRunOwnership(ownership, { expected: 'any' });
    // @ts-expect-error one job and several
    void resetRunOwnership(ownership, { jobId: 1, jobIds: [2], expected: 'any' });
    // @ts-expect-error no such status
    void resetRunOwnership(ownership, { jobId: 1, from: 'broken', expected: 'any' });
    // @ts-expect-error this column is cleared
    void resetRunOwnership(ownership, { jobId: 1, expected: 'any', set: { worker_id: 'w' } });
  });

  test('clearedRunOwnership is a SET of the table', () => {
    const cleared = clearedRunOwnership(ownership);
    expectTypeOf(cleared.status).toEqualTypeOf<'queued'>();
    expectTypeOf(cleared.worker_id).toEqualTypeOf<null>();
    void db.updateTable('jobs').set(cleared);
    void db.updateTable('jobs').set({ ...cleared, attempts: 0 });
    // @ts-expect-error the attempts are not of a run
    void cleared.attempts;
  });

  test('createJobReaper shows jobs with their rows, and takes decisions in their statuses', () => {
    createJobReaper(ownership, {
      ...limits,
      onDead: (job) => {
        expectTypeOf(job.row.attempts).toEqualTypeOf<number>();
        expectTypeOf(job.jobId).toEqualTypeOf<number>();
        return job.row.attempts > 3 ? { status: 'done', set: { attempts: 0 } } : 'requeue';
      },
      probe: async ({ pid }) => (pid === null ? 'unknown' : 'dead'),
    });
    // @ts-expect-error no such status
    createJobReaper(ownership, { ...limits, onDead: () => ({ status: 'broken' }) });
    // An async function that always answers the same.
    createJobReaper(ownership, { ...limits, onDead: async () => 'requeue', probe: async () => 'alive' });
    // @ts-expect-error no such decision
    createJobReaper(ownership, { ...limits, onDead: () => 'drop' });
    // @ts-expect-error a decision is missing
    createJobReaper(ownership, { ...limits, onDead: () => {} });
    // @ts-expect-error no such answer
    createJobReaper(ownership, { ...limits, onDead: 'fail', probe: () => 'gone' });
    // @ts-expect-error the bounds are missing
    createJobReaper(ownership, { onDead: 'fail' });
  });

  test('sanitizeImpossibleQueued tells jobs with the types of their columns', async () => {
    const { sanitized, skipped, found } = (await sanitizeImpossibleQueued(ownership))._unsafeUnwrap();
    expectTypeOf(found).toEqualTypeOf<number>();
    expectTypeOf(skipped).toEqualTypeOf<readonly number[]>();
    expectTypeOf(sanitized[0]?.startedAt).toEqualTypeOf<Date | null | undefined>();
    expectTypeOf(sanitized[0]?.runId).toEqualTypeOf<number | null | undefined>();
  });
});
