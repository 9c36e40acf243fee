import { claimNextJob, requeueRunningJobs, sanitizeImpossibleQueued, stampRunOwnership } from 'transition-ownership';
import type { Orchestrator } from './orchestrator.js';
import { told } from './told.js';

/** The verbs on jobs, and a worker that takes what there is. */
export function jobsOf({ ownership }: Orchestrator) {
  return {
    claim: () => told(claimNextJob(ownership)),
    requeue: () => told(requeueRunningJobs(ownership, { owners: 'dead-only' })),
    sanitize: () => told(sanitizeImpossibleQueued(ownership)),

    /** Claims and stamps jobs until there is none, or as many as it may. */
    async takeJobs({ most = Number.POSITIVE_INFINITY }: { most?: number }) {
      const taken: number[] = [];
      while (taken.length < most) {
        const claimed = await claimNextJob(ownership);
        if (claimed.isErr()) throw new Error(claimed.error.message);
        if (claimed.value === null) break;
        const job = claimed.value;
        const stamped = await stampRunOwnership(ownership, { job, runId: job.jobId, pid: process.pid });
        if (stamped.unwrapOr('superseded') !== 'stamped') throw new Error(`job ${job.jobId} was taken away`);
        taken.push(job.jobId);
      }
      return taken;
    },
  };
}
