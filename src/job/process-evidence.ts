import type { Context } from '../context.js';
import type { JobRecord } from '../core/job.js';
import { type JobProcess, judgeJobProcess } from '../core/job-process.js';
import type { JobSettings } from '../sql/job-columns.js';

/** Looks up the process of a job with all that this process knows. */
export function processOf({ ports }: Context, { host, singleHost }: JobSettings, job: JobRecord): JobProcess {
  return judgeJobProcess(job, {
    pidScope: host !== undefined ? 'named-host' : singleHost ? 'this-host' : 'nowhere',
    self: ports.identity,
    sight: (pid) => ports.processes.sight(pid),
  });
}
