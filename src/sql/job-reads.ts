import { sql } from 'kysely';
import type { IdValue } from '../core/id.js';
import type { Fragment } from '../dialect/dialect.js';
import type { JobColumns, JobNames } from './job-columns.js';
import { type Database, statement } from './statement.js';

/** The next page of a walk over jobs in the order of their ids. */
export interface Page {
  readonly limit: number;
}

/** The statements that read the caller's jobs: none reads more than its page. */
export function jobReads(database: Database, { statuses }: JobNames, columns: JobColumns) {
  const { table, id, seen, whole, exact, as, ageMs, inStatus, isImpossible, isReadable } = columns;

  const readable = sql`case when ${isReadable} then 1 else 0 end`;

  const running = (limit: Fragment, after: Fragment): Fragment =>
    sql`select ${whole}, ${exact}, ${as(readable, 'readable')} from ${table}
      where ${inStatus(statuses.running)} ${after} order by ${id} limit ${limit}`;

  // Some databases take the caller's table for this one if it has its name.
  const page = sql.id('job:page');
  // The last row of the page comes along even if it is sound: the next page begins behind it.
  const queued = (limit: Fragment, after: Fragment): Fragment =>
    sql`with ${page} as (select ${id} as page_key, ${isImpossible} as page_impossible, ${readable} as page_readable,
        ${seen}, ${exact} from ${table}
      where ${inStatus(statuses.queued)} ${after} order by ${id} limit ${limit})
      select ${page}.*, ${as(sql`page_impossible`, 'impossible')}, ${as(sql`page_readable`, 'readable')}, ${as(sql`(select count(*) from ${page})`, 'page')}
      from ${page}
      where page_impossible or page_readable = 0 or page_key = (select page_key from ${page} order by page_key desc limit 1)
      order by page_key`;

  const behind = (after: Fragment): Fragment => sql`and ${id} > ${after}`;
  return {
    /** Running jobs, from the first id on. */
    firstRunning: statement<Page>(database, (p) => running(p.limit, sql``)),
    /** Running jobs behind an id. */
    nextRunning: statement<Page & { after: IdValue }>(database, (p) => running(p.limit, behind(p.after))),
    /** Impossible jobs among the first queued ones. */
    firstQueued: statement<Page>(database, (p) => queued(p.limit, sql``)),
    /** Impossible jobs among the queued ones behind an id. */
    nextQueued: statement<Page & { after: IdValue }>(database, (p) => queued(p.limit, behind(p.after))),
    /** How many jobs are queued and impossible, and run and for how long, each among so many. */
    countJobs: statement<Page>(
      database,
      (p) => sql`select waiting.*, working.* from
        (select count(*) as queued, sum(case when found then 1 else 0 end) as impossible from
          (select ${isImpossible} as found from ${table} where ${inStatus(statuses.queued)} limit ${p.limit}) as each_waiting) as waiting
        cross join (select count(*) as running, max(age_ms) as oldest_ms from
          (select ${ageMs} as age_ms from ${table} where ${inStatus(statuses.running)} limit ${p.limit}) as each_working) as working`,
    ),
  };
}
