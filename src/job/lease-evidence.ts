import type { Context } from '../context.js';
import type { IdValue } from '../core/id.js';
import type { JobRecord } from '../core/job.js';
import type { JobLease } from '../core/reap.js';
import type { Judged } from '../evidence/judge-holder.js';
import { readJudgedOf } from '../evidence/read-holder.js';

/** The leases on the tasks of some jobs; `unreadable` where the lease store is in trouble. */
export type JobLeases = ReadonlyMap<IdValue, Judged> | 'unreadable';

const NONE: JobLeases = new Map();

/**
 * Reads who holds the tasks of jobs: nobody under mode `off`. The scope is not asked: it may decide by the context
 * of a request, which no job has, and a task that it leaves out has no row.
 */
export async function leasesOf(context: Context, jobs: readonly JobRecord[]): Promise<JobLeases> {
  if (context.mode() === 'off') return NONE;
  const named = jobs.flatMap(({ taskId }) => (taskId === null ? [] : [taskId]));
  const taskIds = [...new Set(named)];
  if (taskIds.length === 0) return NONE;
  const read = await readJudgedOf(context, taskIds);
  return read.isErr() ? 'unreadable' : new Map(read.value.map((judged) => [judged.holder.taskId, judged]));
}

/** The lease on the task of one job. */
export function leaseOf(leases: JobLeases, { taskId }: Pick<JobRecord, 'taskId'>): JobLease {
  if (taskId === null) return 'none';
  if (leases === 'unreadable') return 'unreadable';
  return leases.get(taskId)?.judgement.verdict ?? 'none';
}
