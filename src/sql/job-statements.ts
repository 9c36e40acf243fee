import type { Dialect } from '../dialect/dialect.js';
import { type JobNames, type JobTypes, jobColumns } from './job-columns.js';
import { jobReads } from './job-reads.js';
import { jobWrites } from './job-writes.js';
import type { Database } from './statement.js';

/** Every statement on the caller's jobs. */
export function jobStatements(database: Database, dialect: Dialect, names: JobNames, types: JobTypes) {
  const columns = jobColumns(dialect, names, types);
  return { ...jobReads(database, names, columns), ...jobWrites(database, dialect, names, columns) };
}

/** The statements on the caller's jobs. */
export type JobStatements = ReturnType<typeof jobStatements>;
