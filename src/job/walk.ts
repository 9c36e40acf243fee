import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import type { JobRecord, SeenJob } from '../core/job.js';
import { execute, type Reply, type Row } from '../sql/execute.js';
import {
  demandReadable,
  isImpossible,
  pageSize,
  readCursor,
  readUnreadable,
  type UnreadableJob,
} from '../sql/job-rows.js';
import { readRows } from '../sql/rows.js';
import type { Jobs } from './jobs-of.js';

/** What a statement found: the jobs that can be read, and those that cannot. */
export interface JobPage<Job> {
  readonly jobs: readonly Job[];
  readonly unreadable: readonly UnreadableJob[];
}

type Walk<Job> = AsyncGenerator<Result<JobPage<Job>, StoreFailure>>;

interface Steps<Job> {
  readonly first: () => Promise<Result<Reply, StoreFailure>>;
  readonly next: (after: IdValue) => Promise<Result<Reply, StoreFailure>>;
  readonly read: (rows: readonly Row[]) => JobPage<Job> | Promise<JobPage<Job>>;
  readonly isFull: (last: Row) => boolean;
}

/** Pages in the order of their ids; ends after one that could not be read. */
async function* pages<Job>({ types }: Jobs, { first, next, read, isFull }: Steps<Job>): Walk<Job> {
  let page = await first();
  for (let before: IdValue | null = null; ; ) {
    if (page.isErr()) {
      yield err(page.error);
      return;
    }
    const { rows } = page.value;
    yield ok(await read(rows));
    const last = rows.at(-1);
    if (last === undefined || !isFull(last)) return;
    const after = readCursor(last, types);
    if (after === null || !leadsOn(before, after)) return;
    page = await next(after);
    before = after;
  }
}

/** Ids of other kinds come behind all numbers; one of them that only looks like a number would lead back. */
function leadsOn(before: IdValue | null, after: IdValue): boolean {
  return typeof after === 'string' || typeof before === 'string' ? after !== before : before === null || after > before;
}

/** Running jobs, page by page in the order of their ids; ends after a page that could not be read. */
export function runningPages({ session }: Context, jobs: Jobs, limit: number): Walk<JobRecord> {
  const { statements, read, shown } = jobs;
  let size = 0;
  return pages(jobs, {
    first: () => execute(session, statements.firstRunning({ limit })),
    next: (after) => execute(session, statements.nextRunning({ limit, after })),
    read: async (rows) => {
      size = rows.length;
      const page = readPage(session, jobs, rows, read);
      return { ...page, jobs: await Promise.all(page.jobs.map(shown)) };
    },
    isFull: () => size === limit,
  });
}

/** Impossible jobs among the queued ones, page by page; no statement looks at more than its page. */
export function impossiblePages({ session }: Context, jobs: Jobs, limit: number): Walk<SeenJob> {
  const { statements, readSeen } = jobs;
  return pages(jobs, {
    first: () => execute(session, statements.firstQueued({ limit })),
    next: (after) => execute(session, statements.nextQueued({ limit, after })),
    read: (rows) => readPage(session, jobs, rows.filter(isImpossible), readSeen),
    isFull: (last) => pageSize(last) === limit,
  });
}

/** Those rows that can be read, and those that cannot: each of these is reported, and stops no other. */
function readPage<Job>(
  session: Context['session'],
  { types }: Jobs,
  rows: readonly Row[],
  read: (row: Row) => Job,
): JobPage<Job> {
  const jobs: Job[] = [];
  const unreadable: UnreadableJob[] = [];
  for (const row of rows) {
    const job = readRows(session, { rows: [row] }, () => {
      demandReadable(row, types);
      return read(row);
    });
    if (job.isOk()) jobs.push(...job.value);
    else unreadable.push(readUnreadable(row));
  }
  return { jobs, unreadable };
}
