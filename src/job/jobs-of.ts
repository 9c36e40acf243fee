import type { Context } from '../context.js';
import { type JobFacts, jsonId } from '../core/event.js';
import type { IdValue } from '../core/id.js';
import { inspectValue } from '../core/inspect-value.js';
import type { JobRecord, SeenJob } from '../core/job.js';
import { by } from '../core/request.js';
import type { Row } from '../sql/execute.js';
import type { JobSettings } from '../sql/job-columns.js';
import { type JobIdTypes, readJob, readJobId, readSeenJob } from '../sql/job-rows.js';
import type { JobStatements } from '../sql/job-statements.js';
import { jobsKeyed, type Keyed } from '../sql/one-row.js';

/** The jobs of an ownership: their statements, their settings, and how their rows are read. */
export interface Jobs {
  readonly statements: JobStatements;
  readonly settings: JobSettings;
  readonly types: JobIdTypes;
  readonly read: (row: Row) => JobRecord;
  readonly readSeen: (row: Row) => SeenJob;
  readonly readId: (row: Row) => IdValue;
  /** How the table is keyed, as far as is known by now. */
  readonly keyed: () => Keyed;
  /** A job with its row as the caller's own Kysely would give it. */
  readonly shown: (job: JobRecord) => Promise<JobRecord>;
}

/** The jobs of an ownership; throws `TypeError` if it was made without them. */
export function jobsOf(context: Context, verb: string): Jobs {
  const { jobs: statements, settings } = context;
  const { jobs, taskIdType, runIdType } = settings;
  if (statements === undefined || jobs === undefined) {
    throw new TypeError(`${verb} needs an ownership that was made with the option jobs`);
  }
  const types = { idType: jobs.idType, taskIdType, runIdType };
  return {
    statements,
    settings: jobs,
    types,
    read: (row) => readJob(row, types),
    readSeen: (row) => readSeenJob(row, types),
    readId: (row) => readJobId(row, types),
    keyed: () => jobsKeyed(context, jobs.table),
    shown: async (job) => {
      const [row = job.row] = await jobs.table.rows([job.row]);
      return Object.freeze({ ...job, startedAt: row[jobs.startedAt] ?? job.startedAt, row: Object.freeze(row) });
    },
  };
}

/** The rule for a pid: one that a process can have. */
export const pid = by((name, value): asserts value is number => {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${inspectValue(value)}`);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`${name} must be a whole number from 1 on, got ${inspectValue(value)}`);
  }
});

/** Throws for the nonce of a claim that is none of this ownership's. */
export function checkClaim(
  name: string,
  { claim: column }: JobSettings,
  value: unknown,
): asserts value is string | null {
  if (column === undefined ? value !== null : typeof value !== 'string') {
    const wanted = column === undefined ? 'null without the option jobs.claim' : 'the text that claimNextJob returned';
    throw new TypeError(`${name} must be ${wanted}, got ${inspectValue(value)}`);
  }
}

/** A job as events show it. */
export function factsOf({ jobId, taskId, runId, pid }: Pick<SeenJob, 'jobId' | 'taskId' | 'runId' | 'pid'>): JobFacts {
  return {
    jobId: jsonId(jobId),
    taskId: taskId === null ? null : jsonId(taskId),
    runId: runId === null ? null : jsonId(runId),
    pid,
  };
}
