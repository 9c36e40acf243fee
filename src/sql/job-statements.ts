import type { Dialect } from '../dialect/dialect.js';
import { jobClaims } from './job-claims.js';
import { type JobNames, type JobTypes, jobColumns } from './job-columns.js';
import { jobReads } from './job-reads.js';
import { jobReturns } from './job-returns.js';
import { jobWriting } from './job-writing.js';
import type { Database } from './statement.js';

/** Every statement on the caller's jobs. */
export function jobStatements(database: Database, dialect: Dialect, names: JobNames, types: JobTypes) {
  const columns = jobColumns(dialect, names, types);
  const writing = jobWriting(database, dialect, names, columns);
  return {
    ...jobReads(database, names, columns),
    ...jobClaims(database, dialect, names, columns, writing),
    ...jobReturns(dialect, names, columns, writing),
  };
}

/** The statements on the caller's jobs. */
export type JobStatements = ReturnType<typeof jobStatements>;
