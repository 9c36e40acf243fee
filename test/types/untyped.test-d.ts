import type { Kysely } from 'kysely';
import {
  acquireLease,
  claimNextJob,
  clearedRunOwnership,
  createTransitionOwnership,
  defineStages,
  type Lease,
  runEffect,
  stampRunOwnership,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import type { Process } from 'transition-ownership/testing';
import { describe, expectTypeOf, test } from 'vitest';

/** A database whose tables nobody has described. */
declare const db: Kysely<Record<string, Record<string, unknown>>>;
declare const simulated: Process;

const tasks = { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' } as const;
const transitions = defineStages({ deploy: ['done'], done: [] });
const own = createTransitionOwnership({
  db,
  tasks: { ...tasks, transitions },
  effects: {},
  jobs: {
    table: 'jobs',
    id: 'id',
    taskId: 'task_id',
    status: 'status',
    runId: 'run_id',
    pid: 'pid',
    startedAt: 'started_at',
    statuses: { queued: 'queued', running: 'running', failed: 'failed' },
    alsoClear: ['worker'],
  },
});

describe('an ownership over tables that are not described', () => {
  test('has the ids that its options say, and any text for a stage', () => {
    void acquireLease(own, { taskId: 1, actor: 'monitor', stage: 'deploy', runId: 7 }).map((lease) => {
      expectTypeOf(lease).toEqualTypeOf<Lease<number, string | null, number>>();
      void updateStageCas(own, { taskId: 1, expected: 'deploy', next: 'done', lease, set: { note: 'x' } });
      void runEffect(own, lease, { effect: 'merge_pr', key: 'c0ffee', apply: () => 7 });
    });
    void withTransitionLease(own, { taskId: 1, actor: 'finalizer', stage: 'deploy' }, (held) =>
      held.updateStage('done').map(({ to }) => {
        expectTypeOf(to).toEqualTypeOf<string | null>();
      }),
    );
    // @ts-expect-error: ids are numbers unless an option says otherwise
    void acquireLease(own, { taskId: 'a', actor: 'monitor' });
    // @ts-expect-error: an illegal move
    void updateStageCas(own, { taskId: 1, expected: 'done', next: 'deploy' });
    const papers = createTransitionOwnership({ db, tasks, lease: { taskIdType: 'text' } });
    void acquireLease(papers, { taskId: 'a', actor: 'monitor' });
  });

  test('has jobs', () => {
    void claimNextJob(own, { where: { priority: 1 }, orderBy: 'priority', set: { worker: 'w1' } }).map((job) => {
      if (job === null) return;
      expectTypeOf(job.jobId).toEqualTypeOf<number>();
      void stampRunOwnership(own, { job, runId: 7, pid: 1 });
    });
    expectTypeOf(clearedRunOwnership(own).status).toEqualTypeOf<'queued'>();
  });

  test('is what a simulated process makes by default', () => {
    const simulation = simulated.createOwnership({ tasks });
    void simulated
      .op({ verb: 'acquire' }, () => acquireLease(simulation, { taskId: 1, actor: 'A' }))
      .then((asked) => {
        void asked.map((lease) => {
          expectTypeOf(lease.taskId).toEqualTypeOf<number>();
        });
      });
  });
});
