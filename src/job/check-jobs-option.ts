import { checkIdType } from '../core/check.js';
import { checkText } from '../core/id.js';
import { shown } from '../core/shown.js';
import { CallersTable, type Handle } from '../sql/callers-table.js';
import type { JobSettings } from '../sql/job-columns.js';
import type { JobsOption } from './jobs-option.js';

const DEMANDED = ['id', 'taskId', 'status', 'runId', 'pid', 'startedAt'] as const;
const OPTIONAL = ['finishedAt', 'availableAt', 'host', 'pidStart'] as const;
const STATUSES = ['queued', 'running', 'failed'] as const;
const OTHERS = ['table', 'idType', 'statuses', 'singleHost', 'alsoClear'];

/** Refuses an option `jobs` that cannot work; a violated relation names both values. */
export function checkJobs(jobs: JobsOption, handle: Handle): JobSettings {
  if (typeof jobs !== 'object' || jobs === null) throw new TypeError(`jobs must be an object, got ${shown(jobs)}`);
  for (const name of Object.keys(jobs)) {
    if (![...DEMANDED, ...OPTIONAL, ...OTHERS].includes(name)) throw new TypeError(`jobs has no option ${shown(name)}`);
  }
  const { idType = 'integer', singleHost = false, alsoClear = [], statuses, host, pidStart } = jobs;
  if (!Array.isArray(alsoClear)) throw new TypeError(`jobs.alsoClear must be an array, got ${shown(alsoClear)}`);
  checkColumns(jobs, alsoClear);
  checkStatuses(statuses);
  checkIdType('jobs.idType', idType);
  if (typeof singleHost !== 'boolean') {
    throw new TypeError(`jobs.singleHost must be a boolean, got ${shown(singleHost)}`);
  }
  if ((host === undefined) !== (pidStart === undefined)) {
    throw new TypeError(
      `jobs.host and jobs.pidStart are mapped together or not at all, got ${shown(host)} and ${shown(pidStart)}`,
    );
  }
  const { id, taskId, status, runId, pid, startedAt, finishedAt, availableAt } = jobs;
  const columns = { id, taskId, status, runId, pid, startedAt, finishedAt, availableAt, host, pidStart };
  const mapped = [...Object.values(columns), ...(alsoClear as readonly string[])].filter((name) => name !== undefined);
  const { queued, running, failed } = statuses;
  return Object.freeze({
    ...columns,
    table: new CallersTable(handle, jobs.table, mapped),
    statuses: Object.freeze({ queued, running, failed }),
    alsoClear: Object.freeze([...(alsoClear as readonly string[])]),
    idType,
    singleHost,
  });
}

/** Refuses a column that has no name, or that has two meanings. Only the task of a job may be the job itself. */
function checkColumns(jobs: JobsOption, alsoClear: readonly unknown[]): void {
  checkText('jobs.table', jobs.table);
  const meanings = new Map<unknown, string>();
  const claim = (meaning: string, column: unknown): void => {
    checkText(meaning, column);
    const other = meanings.get(column);
    if (other !== undefined) {
      throw new RangeError(`${other} and ${meaning} must be two columns, got ${shown(column)} for both`);
    }
    meanings.set(column, meaning);
  };
  for (const name of DEMANDED) if (name !== 'taskId' || jobs.taskId !== jobs.id) claim(`jobs.${name}`, jobs[name]);
  for (const name of OPTIONAL) if (jobs[name] !== undefined) claim(`jobs.${name}`, jobs[name]);
  for (const column of alsoClear) claim('jobs.alsoClear', column);
}

/** Refuses statuses of which two would be one. */
function checkStatuses(statuses: JobsOption['statuses']): void {
  if (typeof statuses !== 'object' || statuses === null) {
    throw new TypeError(`jobs.statuses must be an object, got ${shown(statuses)}`);
  }
  const meanings = new Map<string, string>();
  for (const name of STATUSES) {
    const spelling: unknown = statuses[name];
    checkText(`jobs.statuses.${name}`, spelling);
    const other = meanings.get(spelling);
    if (other !== undefined) {
      throw new RangeError(
        `jobs.statuses.${other} and jobs.statuses.${name} must differ, got ${shown(spelling)} for both`,
      );
    }
    meanings.set(spelling, name);
  }
}
