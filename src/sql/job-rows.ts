import type { IdType, IdValue } from '../core/id.js';
import type { JobRecord, SeenJob } from '../core/job.js';
import type { Row } from './execute.js';
import { demandId, demandInteger, readId, readInteger, readText } from './rows.js';
import { UnreadableRow } from './unreadable-row.js';

/** The types of the ids in a row of a job. */
export interface JobIdTypes {
  readonly idType: IdType;
  readonly taskIdType: IdType;
  readonly runIdType: IdType;
}

/** The id of a row, from a statement that returns it. */
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
    claim: readText(row['job:claim']),
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

/** True if a row of a page of queued jobs is impossible or cannot be read; the last of the page may be sound. */
export function isImpossible(row: Row): boolean {
  return Number(row['job:impossible']) === 1 || !hasReadableIds(row);
}

/** What is known of a job whose row cannot be read. */
export interface UnreadableJob {
  /** Its id, as text. */
  readonly id: string;
  readonly started: string | null;
  readonly startedAtMs: number | null;
  /** `null` where the statement does not read the clock. */
  readonly nowMs: number | null;
}

/** A job whose row cannot be read. */
export function readUnreadable(row: Row): UnreadableJob {
  return Object.freeze({
    id: readText(row['job:exact']) ?? 'null',
    started: readText(row['job:started']),
    startedAtMs: readInteger(row['job:started-ms']),
    nowMs: readInteger(row['job:now-ms']),
  });
}

/** Throws for a row of a page where an id or the pid in it cannot be read: a run that was misread would be another's. */
export function demandReadable(row: Row, { idType, taskIdType, runIdType }: JobIdTypes): void {
  const id = readText(row['job:exact']);
  if (!hasReadableIds(row)) {
    const own = idType === 'integer' && /^-?\d+$/.test(id ?? '') ? Number.isSafeInteger(Number(id)) : id !== null;
    const misread = own && readId(taskIdType, row['job:task']) === null && row['job:task'] !== null;
    if (misread) throw new UnreadableRow('job:task', row['job:task'], `an id of type ${taskIdType}, or null`);
    throw new UnreadableRow('job:id', id, `an id of type ${idType}`);
  }
  const run = row['job:run'] ?? null;
  if (run !== null && readId(runIdType, run) === null) {
    throw new UnreadableRow('job:run', run, `an id of type ${runIdType}, or null`);
  }
  const pid = row['job:pid'] ?? null;
  if (pid !== null && readInteger(pid) === null) throw new UnreadableRow('job:pid', pid, 'a safe integer, or null');
}

function hasReadableIds(row: Row): boolean {
  return Number(row['job:readable']) === 1;
}

/** Behind which id the next page begins, exact also where it cannot be read as its type; `null` where it is no number. */
export function readCursor(row: Row, { idType }: Pick<JobIdTypes, 'idType'>): IdValue | null {
  const id = readText(row['job:exact']);
  if (idType === 'text' || id === null) return id;
  if (/^-?\d+$/.test(id)) return idType === 'integer' && Number.isSafeInteger(Number(id)) ? Number(id) : BigInt(id);
  return id !== '' && Number.isFinite(Number(id)) ? Number(id) : null;
}

/** How many jobs the page of a row has. */
export function pageSize(row: Row): number {
  return demandInteger(row, 'job:page');
}
