import { inspectValue } from '../core/inspect-value.js';
import { boolean, idType, list, object, optional, type RulesOf, text } from '../core/request.js';
import { CallersTable, type Handle } from '../sql/callers-table.js';
import type { JobSettings } from '../sql/job-columns.js';
import type { JobStatuses, JobsOption } from './jobs-option.js';

const DEMANDED = ['id', 'taskId', 'status', 'runId', 'pid', 'startedAt'] as const;
const OPTIONAL = ['finishedAt', 'availableAt', 'host', 'pidStart', 'claim'] as const;
const STATUSES = ['queued', 'running', 'failed'] as const;

/** What the option `jobs` may say. */
export const jobsRule = object({
  table: text,
  id: text,
  taskId: text,
  status: text,
  runId: text,
  pid: text,
  startedAt: text,
  finishedAt: optional(text),
  availableAt: optional(text),
  host: optional(text),
  pidStart: optional(text),
  claim: optional(text),
  idType: optional(idType, 'integer'),
  statuses: object({ queued: text, running: text, failed: text } satisfies RulesOf<JobStatuses>),
  singleHost: optional(boolean, false),
  alsoClear: optional(list(text), []),
} satisfies RulesOf<JobsOption>);

type CheckedJobs = ReturnType<ReturnType<typeof jobsRule>>;

/** Throws for an option `jobs` that cannot work; a violated relation names both values. */
export function checkJobs(jobs: CheckedJobs, handle: Handle): JobSettings {
  const { host, pidStart, statuses } = jobs;
  checkColumns(jobs);
  checkStatuses(statuses);
  if ((host === undefined) !== (pidStart === undefined)) {
    throw new TypeError(
      `jobs.host and jobs.pidStart are mapped together or not at all, got ${inspectValue(host)} and ${inspectValue(pidStart)}`,
    );
  }
  const { id, taskId, status, runId, pid, startedAt, finishedAt, availableAt, alsoClear, claim } = jobs;
  const run = [runId, pid, startedAt, finishedAt, host, pidStart, claim, ...alsoClear];
  const mapped = [id, taskId, status, availableAt, ...run].filter((name) => name !== undefined);
  const table = new CallersTable(handle, jobs.table, mapped);
  return Object.freeze({ ...jobs, table, statuses: Object.freeze(statuses) });
}

/** Throws for a column that has no name, or that has two meanings. Only the task of a job may be the job itself. */
function checkColumns(jobs: CheckedJobs): void {
  const meanings = new Map<string | undefined, string>();
  const claim = (meaning: string, column: string | undefined): void => {
    const other = meanings.get(column);
    if (other !== undefined) {
      throw new RangeError(`${other} and ${meaning} must be two columns, got ${inspectValue(column)} for both`);
    }
    meanings.set(column, meaning);
  };
  for (const name of DEMANDED) if (name !== 'taskId' || jobs.taskId !== jobs.id) claim(`jobs.${name}`, jobs[name]);
  for (const name of OPTIONAL) if (jobs[name] !== undefined) claim(`jobs.${name}`, jobs[name]);
  for (const column of jobs.alsoClear) claim('jobs.alsoClear', column);
}

/** Throws for statuses of which two would be one. */
function checkStatuses(statuses: JobStatuses): void {
  const meanings = new Map<string, string>();
  for (const name of STATUSES) {
    const spelling = statuses[name];
    const other = meanings.get(spelling);
    if (other !== undefined) {
      throw new RangeError(
        `jobs.statuses.${other} and jobs.statuses.${name} must differ, got ${inspectValue(spelling)} for both`,
      );
    }
    meanings.set(spelling, name);
  }
}
