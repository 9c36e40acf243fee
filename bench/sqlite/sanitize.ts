import { type Kysely, sql } from 'kysely';
import { createTransitionOwnership, sanitizeImpossibleQueued } from 'transition-ownership';
import type { Tables } from '../ownership.js';
import { processor } from '../race.js';
import { atMost, type Line } from '../report.js';
import type { Workshop } from './database.js';

const IMPOSSIBLE = 10_000;
const FEW = 20_000;
const MANY = 1_000_000;

/** Repairing a queue costs in proportion to what is queued, and not to what was ever run. */
export async function sanitize(shop: Workshop): Promise<readonly Line[]> {
  const few = await repair(shop, FEW);
  const many = await repair(shop, MANY);
  const ratio = many.us / few.us;
  const spell = (jobs: number): string =>
    `sanitize ${IMPOSSIBLE.toLocaleString('en')} impossible of ${jobs.toLocaleString('en')} jobs`;
  return [
    { what: spell(FEW), us: few.us, figure: '' },
    {
      what: spell(MANY),
      us: many.us,
      figure: `${ratio.toFixed(2)} × that of ${FEW.toLocaleString('en')}`,
      ...atMost(ratio, 2),
    },
    {
      what: '  its longest statement',
      us: many.longestUs,
      figure: `${(many.longestUs / 1_000).toFixed(1)} ms`,
      ...atMost(many.longestUs / 1_000, 50),
    },
  ];
}

/** The time of one repair and of the longest statement, by the processor. */
async function repair(shop: Workshop, jobs: number): Promise<{ readonly us: number; readonly longestUs: number }> {
  let [lastUs, longestUs] = [0, 0];
  const onQuery = (): void => {
    // What passed since the last statement ended is no less than what this one took.
    longestUs = Math.max(longestUs, processor() - lastUs);
    lastUs = processor();
  };
  const db = await shop.kept(shop.file(), 'normal', { onQuery });
  await fillJobs(db, jobs);
  const ownership = createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
    jobs: {
      table: 'jobs',
      id: 'id',
      taskId: 'task_id',
      status: 'status',
      runId: 'run_id',
      pid: 'pid',
      startedAt: 'started_at',
      statuses: { queued: 'queued', running: 'running', failed: 'failed' },
    },
  });
  const startUs = processor();
  [lastUs, longestUs] = [startUs, 0];
  const { sanitized } = (await sanitizeImpossibleQueued(ownership))._unsafeUnwrap();
  const us = (processor() - startUs) / IMPOSSIBLE;
  if (sanitized.length !== IMPOSSIBLE) throw new Error(`${sanitized.length} of ${IMPOSSIBLE} jobs were sanitized`);
  return { us, longestUs };
}

/** Jobs that are done, and among them those that are queued and carry a run's ownership. */
async function fillJobs(db: Kysely<Tables>, jobs: number): Promise<void> {
  await sql`create table jobs (id integer primary key, task_id integer not null, status text not null, run_id integer,
    pid integer, started_at text)`.execute(db);
  await sql`create index jobs_by_status on jobs (status, id)`.execute(db);
  await sql`insert into jobs with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(jobs)})
    select i, i, iif(i % ${sql.lit(jobs / IMPOSSIBLE)} = 0, 'queued', 'done'), i, 4711, '2026-01-01 00:00:00.000'
    from n`.execute(db);
}
