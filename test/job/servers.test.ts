import { CompiledQuery, Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely';
import {
  claimNextJob,
  createJobReaper,
  createTransitionOwnership,
  requeueRunningJobs,
  resetRunOwnership,
  sanitizeImpossibleQueued,
  stampRunOwnership,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { mysqlPool } from '../contract/stores/mysql.js';
import { makeSchemas, postgresPool } from '../contract/stores/postgres.js';
import { ok, proveOn } from './proofs.js';
import { returning } from './returning.js';
import { type JobStore, mysqlStore, postgresStore } from './stores.js';
import { openYard } from './yard.js';

const suite = 'servers';
const dead = { status: 'running', run_id: 7, pid: 77, host: 'here' } as const;
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

/** PostgreSQL whose sessions have further settings. */
const postgresWith = (name: string, settings: string): JobStore => ({
  ...postgresStore,
  name: `PostgreSQL ${name}`,
  open: async (schema) => {
    const { close } = await postgresStore.open(schema);
    const options = `-c search_path=jobs_${schema} ${settings}`;
    return { connect: () => new PostgresDialect({ pool: postgresPool('', { max: 4, options }) }), close };
  },
});

/** MySQL whose sessions begin with a statement. */
const mysqlWith = (name: string, statement: string): JobStore => ({
  ...mysqlStore,
  name: `MySQL ${name}`,
  open: async (database) => {
    const { close } = await mysqlStore.open(database);
    const connect = () =>
      new MysqlDialect({
        pool: mysqlPool(`jobs_${database}`),
        onCreateConnection: async (connection) => {
          await connection.executeQuery(CompiledQuery.raw(statement));
        },
      });
    return { connect, close };
  },
});

const levels = ['read committed', 'repeatable read', 'serializable'].flatMap((level) => [
  postgresWith(`at ${level}`, `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`),
  mysqlWith(`at ${level}`, `set session transaction isolation level ${level}`),
]);

describe.each(levels)('on $name', (store) => {
  test.skipIf(store.missing !== undefined)('claimNextJob never says that there is no work while there is', async () => {
    await using yard = await openYard(store, { suite });
    for (const id of numbers(60)) await yard.put({ id });
    const taken: number[] = [];
    await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map(async (name) => {
        const ownership = yard.start(name).own();
        for (;;) {
          const job = await claimNextJob(ownership);
          if (job.isErr()) {
            // Conflicts that outlast the retries are told as what they are.
            expect(job.error).toMatchObject({ kind: 'serialization', retryable: true, outcome: 'not-applied' });
          } else if (job.value === null) return;
          else taken.push(job.value.jobId);
        }
      }),
    );
    expect(taken.sort((a, b) => a - b)).toEqual(numbers(60));
    expect((await yard.jobs()).every(({ status }) => status === 'running')).toBe(true);
  });
});

for (const store of [postgresStore, mysqlStore]) {
  describe.skipIf(store.missing !== undefined)(`on ${store.name}`, () => {
    test('two resets of the same jobs in opposite orders never meet in a deadlock', async () => {
      await using yard = await openYard(store, { suite });
      const jobIds = numbers(40);
      for (const id of jobIds) await yard.put({ ...dead, id });
      const workers = ['a', 'b', 'c'].map((name) => yard.start(name));
      const ownerships = workers.map((worker) => ({ db: worker.db, ownership: worker.own() }));
      for (let round = 0; round < 5; round += 1) {
        await yard.outside.updateTable('jobs').set({ status: 'running' }).execute();
        // In transactions of the caller, where nothing is retried and a deadlock would be seen.
        const reports = await Promise.all(
          ownerships.map(({ db, ownership }, at) =>
            db
              .transaction()
              .setIsolationLevel('read committed')
              .execute((trx) => {
                const ids = at % 2 === 0 ? jobIds : [...jobIds].reverse();
                return ok(resetRunOwnership(ownership.using(trx), { jobIds: ids, expected: 'any' }));
              }),
          ),
        );
        expect(reports.map(({ reset }) => reset.length).sort((a, b) => a - b)).toEqual([0, 0, 40]);
      }
    });

    test('every walk passes over a job that somebody has locked, says so, and meets it again', async () => {
      await using yard = await openYard(store, { suite });
      const locker = yard.start('locker');
      const ownership = yard.start('a').own();
      const reaper = createJobReaper(ownership, {
        deadTicks: 1,
        finalizeGraceMs: 0,
        maxRunningMs: 3_600_000,
        onDead: 'requeue',
      });
      const walks = {
        reap: async () => {
          const { outcomes } = await ok(reaper.tick());
          return {
            done: outcomes.flatMap((o) => (o.outcome === 'reaped' ? [o.jobId] : [])),
            skipped: outcomes.flatMap((o) => (o.outcome === 'skipped' ? [o.jobId] : [])),
          };
        },
        recover: async () => {
          const { requeued, skipped } = await ok(requeueRunningJobs(ownership, { owners: 'all' }));
          return { done: requeued.map(({ jobId }) => jobId), skipped };
        },
        sanitize: async () => {
          const { sanitized, skipped } = await ok(sanitizeImpossibleQueued(ownership));
          return { done: sanitized.map(({ jobId }) => jobId), skipped };
        },
      };
      for (const [name, walk] of Object.entries(walks)) {
        await yard.outside.deleteFrom('jobs').execute();
        const status = name === 'sanitize' ? 'queued' : 'running';
        for (const id of [1, 2, 3]) await yard.put({ ...dead, status, id });
        const rolledBack = locker.db.transaction().execute(async (trx) => {
          await trx.updateTable('jobs').set({ kind: 'locked' }).where('id', '=', 2).execute();
          expect(await walk()).toEqual({ done: [1, 3], skipped: [2] });
          throw new Error('rolled back');
        });
        await expect(rolledBack).rejects.toThrow('rolled back');
        expect(await walk()).toEqual({ done: [2], skipped: [] });
      }
    });

    test('claimNextJob takes the next job that nobody has locked', async () => {
      await using yard = await openYard(store, { suite });
      const locker = yard.start('locker');
      const ownership = yard.start('a').own();
      for (const id of [1, 2]) await yard.put({ id });
      await locker.db.transaction().execute(async (trx) => {
        await trx.updateTable('jobs').set({ kind: 'locked' }).where('id', '=', 1).execute();
        expect((await ok(claimNextJob(ownership)))?.jobId).toBe(2);
      });
      expect((await ok(claimNextJob(ownership)))?.jobId).toBe(1);
    });
  });
}

// Some drivers count the rows that changed, not those that matched.
proveOn(
  {
    ...mysqlStore,
    name: 'MySQL without FOUND_ROWS',
    open: async (database) => {
      const { close } = await mysqlStore.open(database);
      return {
        connect: () => new MysqlDialect({ pool: mysqlPool(`jobs_${database}`, { flags: ['-FOUND_ROWS'] }) }),
        close,
      };
    },
  },
  'a way back to the queue',
  returning,
  { suite },
);

describe.skipIf(postgresStore.missing !== undefined)('on PostgreSQL', () => {
  test('ids may be uuids, statuses an enumeration, and sessions in any time zone', async () => {
    const drop = await makeSchemas('jobs_uuid');
    interface Uuids {
      tasks: { id: string; stage: string };
      jobs: {
        id: string;
        task_id: string | null;
        status: 'queued' | 'running' | 'failed';
        run_id: string | null;
        pid: number | null;
        started_at: Date | null;
        available_at: Date | null;
      };
    }
    const pools = ['Asia/Tokyo', 'America/St_Johns'].map((zone) =>
      postgresPool('', { options: `-c search_path=jobs_uuid -c timezone=${zone}` }),
    );
    const [a, b] = pools.map((pool) => {
      const db = new Kysely<Uuids>({ dialect: new PostgresDialect({ pool }) });
      const ownership = createTransitionOwnership({
        db,
        tasks: { table: 'tasks', id: 'id', stage: 'stage' },
        lease: { taskIdType: 'text', runIdType: 'text' },
        jobs: {
          table: 'jobs',
          id: 'id',
          taskId: 'task_id',
          status: 'status',
          runId: 'run_id',
          pid: 'pid',
          startedAt: 'started_at',
          availableAt: 'available_at',
          statuses: { queued: 'queued', running: 'running', failed: 'failed' },
          idType: 'text',
        },
      });
      return { db, ownership };
    });
    if (a === undefined || b === undefined) throw new Error('there are two sessions');
    const [first, second, run] = [
      '0c5d3f6e-2f43-4b0e-9d8d-0d1f8d3b5a01',
      'ffffffff-2f43-4b0e-9d8d-0d1f8d3b5a02',
      'b3b0a0a0-2f43-4b0e-9d8d-0d1f8d3b5a03',
    ] as const;
    await sql`create table tasks (id uuid primary key, stage text)`.execute(a.db);
    await sql`create type job_status as enum ('queued', 'running', 'failed')`.execute(a.db);
    await sql`create table jobs (id uuid primary key, task_id uuid, status job_status, run_id uuid, pid integer,
      started_at timestamptz, available_at timestamptz)`.execute(a.db);
    await sql`insert into jobs (id, status, available_at) values (${first}, 'queued', now()), (${second}, 'queued', null)`.execute(
      a.db,
    );

    const job = await ok(claimNextJob(a.ownership, { orderBy: { column: 'id', direction: 'desc' } }));
    if (job === null) throw new Error('no job');
    expect(job.jobId).toBe(second);
    expect(Math.abs(job.startedAtMs - Date.now())).toBeLessThan(60_000);
    expect(await ok(stampRunOwnership(b.ownership, { job, runId: run, pid: 77 }))).toBe('stamped');
    expect(
      await ok(resetRunOwnership(b.ownership, { jobId: second, expected: { runId: run, pid: 77 } })),
    ).toMatchObject({ reset: [second] });
    await sql`update jobs set run_id = ${run}, started_at = now()`.execute(a.db);
    // What one session found is compared in another.
    const { sanitized } = await ok(sanitizeImpossibleQueued(b.ownership, { batchSize: 1 }));
    expect(sanitized.map(({ jobId, runId }) => [jobId, runId])).toEqual([
      [first, run],
      [second, run],
    ]);
    expect((await ok(claimNextJob(b.ownership, { where: { id: first } })))?.jobId).toBe(first);
    expect((await ok(requeueRunningJobs(a.ownership, { owners: 'all' }))).requeued).toMatchObject([{ jobId: first }]);
    for (const { db } of [a, b]) await db.destroy();
    await drop();
  });
});
