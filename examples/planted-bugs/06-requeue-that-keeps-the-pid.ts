import { claimNextJob, resetRunOwnership, stampRunOwnership } from 'transition-ownership';
import { noQueuedRunOwnership, type Process } from 'transition-ownership/testing';
import { options, type PlantedBug, seeded, type Tables } from './planted-bug.js';

/**
 * Puts a job back into the queue by its status alone. It goes on carrying the run and the pid of the run that failed,
 * and a reaper later kills a stranger, or the new run.
 *
 * The corrected one clears them in the statement that changes the status.
 */
const requeueStatus = async ({ db, pid }: Process<Tables>): Promise<void> => {
  await db
    .updateTable('jobs')
    .set({ status: 'running', run_id: 7, pid, started_at: 'now' })
    .where('id', '=', 1)
    .execute();
  await db.updateTable('jobs').set({ status: 'queued' }).where('id', '=', 1).execute();
};

const requeueAll = async ({ createOwnership, pid }: Process<Tables>): Promise<void> => {
  const ownership = createOwnership(options);
  const job = (await claimNextJob(ownership)).unwrapOr(null);
  if (job === null) return;
  void (await stampRunOwnership(ownership, { job, runId: 7, pid }));
  void (await resetRunOwnership(ownership, { jobId: job.jobId, expected: { runId: 7, pid } }));
};

export const requeueThatKeepsThePid: PlantedBug = {
  name: 'requeue that keeps the pid',
  broken: { ...seeded, processes: { A: requeueStatus }, invariant: noQueuedRunOwnership() },
  corrected: {
    ...seeded,
    processes: { A: requeueAll, B: requeueAll },
    faults: { crashes: 1, restarts: 1 },
    invariant: noQueuedRunOwnership(),
  },
};
