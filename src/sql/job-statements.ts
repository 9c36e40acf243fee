import type { CompiledQuery } from 'kysely';
import type { Dialect } from '../dialect/dialect.js';
import type { StoredTimes } from './columns-found.js';
import { jobClaims } from './job-claims.js';
import { type JobNames, type JobTypes, jobColumns } from './job-columns.js';
import { jobReads } from './job-reads.js';
import { jobReturns } from './job-returns.js';
import { jobWriting } from './job-writing.js';
import type { Database } from './statement.js';

function build(database: Database, dialect: Dialect, names: JobNames, types: JobTypes) {
  const columns = jobColumns(dialect, names, types);
  const writing = jobWriting(database, dialect, names, columns);
  return {
    ...jobReads(database, names, columns),
    ...jobClaims(database, dialect, names, columns, writing),
    ...jobReturns(dialect, names, columns, writing),
  };
}

/** The statements on the caller's jobs. */
export type JobStatements = ReturnType<typeof build>;

/** Every statement on the caller's jobs, made anew when it is found that their time columns are stored otherwise. */
export function jobStatements(
  database: Database,
  dialect: Dialect,
  names: JobNames,
  { times, ...types }: Omit<JobTypes, 'times'> & { readonly times: () => StoredTimes },
): JobStatements {
  let stored = times();
  let made = build(database, dialect, names, { ...types, times: stored });
  const present = (): Readonly<Record<string, (...given: never[]) => CompiledQuery>> => {
    if (times() !== stored) {
      stored = times();
      made = build(database, dialect, names, { ...types, times: stored });
    }
    return made;
  };
  const live = Object.keys(made).map((name) => [name, (...given: never[]) => present()[name]?.(...given)] as const);
  return Object.fromEntries(live) as unknown as JobStatements;
}
