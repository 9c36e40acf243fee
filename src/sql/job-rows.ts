import type { IdType } from '../core/id.js';
import type { JobRecord, SeenJob } from '../core/job.js';
import type { Row } from './execute.js';
import { demandId, demandInteger, readId, readInteger, readText } from './rows.js';

/** The types of the ids in a row of a job. */
export interface JobIdTypes {
  readonly idType: IdType;
  readonly taskIdType: IdType;
  readonly runIdType: IdType;
}

/** The id of a row, from a statement that answers it. */
export function readJobId(row: Row, { idType }: Pick<JobIdTypes, 'idType'>) {
  return demandId(idType, row, 'job:id');
}

/** A job as it was seen. */
export function readSeenJob(row: Row, types: JobIdTypes): SeenJob {
  return Object.freeze({
    jobId: readJobId(row, types),
    taskId: readId(types.taskIdType, row['job:task']),
    runId: readId(types.runIdType, row['job:run']),
    pid: readInteger(row['job:pid']),
    started: readText(row['job:started']),
    startedAt: row['job:started-at'] ?? null,
  });
}

/** A job with everything that is read of it. */
export function readJob(row: Row, types: JobIdTypes): JobRecord {
  return Object.freeze({
    ...readSeenJob(row, types),
    host: readText(row['job:host']),
    pidStart: readText(row['job:pid-start']),
    startedAtMs: readInteger(row['job:started-ms']),
    nowMs: demandInteger(row, 'job:now-ms'),
    row: Object.freeze(Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('job:')))),
  });
}

/** True if a row of a page of queued jobs is impossible; the last of the page may be sound. */
export function isImpossible(row: Row): boolean {
  return Number(row['job:impossible']) === 1;
}

/** How many jobs the page of a row has. */
export function pageSize(row: Row): number {
  return demandInteger(row, 'job:page');
}
