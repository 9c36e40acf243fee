import { sql } from 'kysely';
import {
  claimNextJob,
  createJobReaper,
  findImpossibleQueued,
  requeueRunningJobs,
  sanitizeImpossibleQueued,
  snapshot,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { ok } from './proofs.js';
import { sqliteStore } from './stores.js';
import { openYard, type Yard } from './yard.js';

/** Fills the table past every worker: jobs from an id on, all alike. */
async function fill(yard: Yard, from: number, count: number, columns: string, values: string): Promise<void> {
  await sql
    .raw(
      `with recursive n (id) as (select ${from} union all select id + 1 from n where id < ${from + count - 1})
       insert into jobs (id, ${columns}) select id, ${values} from n`,
    )
    .execute(yard.outside);
}

/** How SQLite would go about a statement, a line for each table that it looks at. */
async function plan(yard: Yard, text: string): Promise<string[]> {
  const { rows } = await sql<{ detail: string }>`explain query plan ${sql.raw(text.replaceAll('?', '1'))}`.execute(
    yard.outside,
  );
  return rows.map(({ detail }) => detail).filter((detail) => / jobs\b/.test(detail));
}

describe('a walk over many jobs', () => {
  test('takes page after page, and each job once', async () => {
    await using yard = await openYard(sqliteStore);
    const started = `'2026-01-02 03:04:05.678'`;
    await fill(yard, 1, 1_100, 'status, run_id, pid, host, started_at', `'running', 7, 77, 'here', ${started}`);
    await fill(yard, 2_001, 1_100, 'status, pid', `'queued', 77`);
    const ownership = yard.start('a').own();
    const limits = { deadTicks: 1, finalizeGraceMs: 0, maxRunningMs: 3_600_000 };

    const ticked = await ok(createJobReaper(ownership, { ...limits, onDead: () => 'leave' }).tick());
    expect(ticked).toMatchObject({ examined: 1_100, skipped: 1_100, sanitized: 1_100 });
    expect(new Set(ticked.outcomes.map(({ jobId }) => jobId)).size).toBe(1_100);

    const report = await ok(requeueRunningJobs(ownership, { owners: 'dead-only' }));
    expect(new Set(report.requeued.map(({ jobId }) => jobId)).size).toBe(1_100);
    expect(report).toMatchObject({ kept: [], skipped: [] });

    await fill(yard, 5_001, 2_500, 'status, pid', `'queued', 77`);
    const found = await ok(findImpossibleQueued(ownership, { limit: 2_200 }));
    expect(found.map(({ jobId }) => jobId)).toEqual(Array.from({ length: 2_200 }, (_, at) => 5_001 + at));
  });

  test('costs as much as there are queued and running jobs, whatever the finished ones', async () => {
    await using yard = await openYard(sqliteStore);
    await fill(yard, 1, 20_000, 'status, run_id, pid', `'done', 7, 77`);
    await fill(yard, 20_001, 300, 'status, pid', `'queued', 77`);
    await fill(yard, 20_301, 20, 'status, pid', `'running', 77`);
    const worker = yard.start('a');
    const ownership = worker.own();
    await ok(sanitizeImpossibleQueued(ownership, { batchSize: 100 }));
    await ok(requeueRunningJobs(ownership, { owners: 'dead-only' }));
    await ok(claimNextJob(ownership));
    await ok(snapshot(ownership));
    const sent = [...new Set(worker.wire.sent.map(({ sql: text }) => text))].filter((text) => text.includes('"jobs"'));
    expect(sent).toHaveLength(7);
    for (const text of sent) {
      const tables = await plan(yard, text);
      expect(tables.length).toBeGreaterThan(0);
      for (const table of tables)
        expect(table).toMatch(/^SEARCH jobs USING (INDEX jobs_by_status|INTEGER PRIMARY KEY)/);
    }
  });

  test('by SQLite without an index would read the whole table', async () => {
    await using yard = await openYard(sqliteStore);
    await sql`drop index jobs_by_status`.execute(yard.outside);
    expect(await plan(yard, `select id from jobs where status = 'queued' collate binary order by task_id`)).toEqual([
      'SCAN jobs',
    ]);
  });
});
