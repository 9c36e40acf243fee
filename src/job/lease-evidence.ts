import type { Context } from '../context.js';
import type { IdValue } from '../core/id.js';
import type { JobRecord } from '../core/job.js';
import type { JobLease } from '../core/reap.js';
import type { Judged } from '../lease-row/judge-holder.js';
import { seekJudgedOf } from '../lease-row/read-holder.js';

/** The leases on the tasks of some jobs; `unreadable` where a row, or the lease store, cannot be read. */
export type JobLeases = ReadonlyMap<IdValue, Judged | 'unreadable'> | 'unreadable';

const NONE: JobLeases = new Map();

/**
 * Reads who holds the tasks of jobs: no one under mode `off`. The scope is not asked: it may decide by the context
 * of a request, which no job has, and a task that it leaves out has no row.
 */
export async function leasesOf(context: Context, jobs: readonly JobRecord[]): Promise<JobLeases> {
  if (context.mode() === 'off') return NONE;
  const named = jobs.flatMap(({ taskId }) => (taskId === null ? [] : [taskId]));
  const taskIds = [...new Set(named)];
  if (taskIds.length === 0) return NONE;
  const read = await seekJudgedOf(context, taskIds);
  return read.isErr() || read.value.unplaced ? 'unreadable' : read.value.byId;
}

/** The holder of the task of one job, where it was read. */
export function holderOf(leases: JobLeases, { taskId }: Pick<JobRecord, 'taskId'>): Judged | undefined {
  if (taskId === null || leases === 'unreadable') return undefined;
  const lease = leases.get(taskId);
  return lease === 'unreadable' ? undefined : lease;
}

/** The lease on the task of one job. */
export function leaseOf(leases: JobLeases, { taskId }: Pick<JobRecord, 'taskId'>): JobLease {
  if (taskId === null) return 'none';
  if (leases === 'unreadable') return 'unreadable';
  const lease = leases.get(taskId) ?? 'none';
  return typeof lease === 'string' ? lease : lease.judgement.verdict;
}
