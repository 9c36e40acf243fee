import { createJobReaper } from 'transition-ownership';
import type { Orchestrator } from './orchestrator.js';

/**
 * Makes the reaper: jobs whose process is gone go back to the queue, unless somebody is just finishing their task;
 * each tick also repairs queued jobs that carry a dead run's pid.
 */
export function makeReaper({ ownership }: Orchestrator) {
  return createJobReaper(ownership, {
    deadTicks: 2,
    finalizeGraceMs: 5_000,
    maxRunningMs: 1_800_000,
    onDead: 'requeue',
  });
}
