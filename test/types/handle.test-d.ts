import type { Kysely, Transaction } from 'kysely';
import {
  type ClaimedJob,
  claimNextJob,
  clearedRunOwnership,
  createTransitionOwnership,
  type Held,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { describe, expectTypeOf, test } from 'vitest';

/** A database as a Kysely with CamelCasePlugin knows it. */
interface Camel {
  fileTasks: { id: number; status: 'a' | 'b'; updatedAt: string | null; movedBy: string | null };
  fileJobs: {
    id: number;
    taskId: number | null;
    jobStatus: 'queued' | 'running' | 'failed';
    runId: number | null;
    ownerPid: number | null;
    startedAt: Date | null;
    jobPayload: { refName: string };
  };
}

declare const db: Kysely<Camel>;
declare const trx: Transaction<Camel>;

const tasks = { table: 'fileTasks', id: 'id', stage: 'status', updatedAt: 'updatedAt' } as const;
const jobs = {
  table: 'fileJobs',
  id: 'id',
  taskId: 'taskId',
  status: 'jobStatus',
  runId: 'runId',
  pid: 'ownerPid',
  startedAt: 'startedAt',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
} as const;
const own = createTransitionOwnership({ db, tasks, jobs });

describe('the names of the caller’s types', () => {
  test('are those of the options, whatever they are in the database', () => {
    void updateStageCas(own, { taskId: 1, expected: 'a', next: 'b', set: { movedBy: 'worker' } });
    // @ts-expect-error: a name of the database
    createTransitionOwnership({ db, tasks: { ...tasks, table: 'file_tasks' } });
    // @ts-expect-error: a name of the database
    createTransitionOwnership({ db, tasks: { ...tasks, updatedAt: 'updated_at' } });
    // @ts-expect-error: a name of the database
    void updateStageCas(own, { taskId: 1, expected: 'a', next: 'b', set: { moved_by: 'worker' } });
  });

  test('are those of a job’s row, and of its run ownership', () => {
    void claimNextJob(own, { where: (eb) => eb('fileJobs.runId', 'is', null), orderBy: 'taskId' }).map((job) => {
      expectTypeOf(job).toExtend<ClaimedJob | null>();
      if (job !== null) expectTypeOf(job.row.jobPayload).toEqualTypeOf<{ refName: string }>();
    });
    expectTypeOf(clearedRunOwnership(own)).toEqualTypeOf<
      { readonly jobStatus: 'queued' } & { readonly runId: null; readonly ownerPid: null; readonly startedAt: null }
    >();
  });
});

test('held.using takes a transaction, a connection or a Kysely, and is held itself', () => {
  void withTransitionLease(own, { taskId: 1, actor: 'worker', stage: 'a' }, (held) => {
    expectTypeOf(held.using(trx)).toEqualTypeOf(held);
    expectTypeOf(held.using(trx)).toExtend<Held>();
    // @ts-expect-error: no stage of the tasks
    void held.using(trx).updateStage('c');
    // @ts-expect-error: no handle at all
    held.using('trx');
    return held.using(db.withSchema('a')).updateStage('b');
  });
});
