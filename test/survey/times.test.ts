import type { ExpressionBuilder } from 'kysely';
import { claimNextJob, createJobReaper, stampRunOwnership, updateStageCas } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { kindOf, kinds, makeTables, ownershipOver, type Place, type Tables, tasksAlone } from './place.js';

const HOUR_MS = 3_600_000;
const mysql = kindOf('MySQL');
const postgres = kindOf('PostgreSQL');

const reaping = {
  probe: () => 'unknown' as const,
  onDead: () => 'requeue' as const,
  maxRunningMs: 7_200_000,
  finalizeGraceMs: 60_000,
};

/** Claims over one session, stamps and reaps over another, and reads what was stored. */
async function acrossZones(place: Place, here: string, there: string, stored: string): Promise<void> {
  await place.run(
    "insert into tasks (id, stage) values (1, 'a')",
    "insert into jobs (id, status) values (1, 'queued')",
  );
  const [one, other] = [here, there].map((zone) => ownershipOver(place.connect({ begin: [zone] })).ownership);
  if (one === undefined || other === undefined) throw new Error('there are two');
  expect((await updateStageCas(one, { taskId: 1, expected: 'a', next: 'b' })).isOk()).toBe(true);
  const job = (await claimNextJob(one))._unsafeUnwrap();
  if (job === null) throw new Error('there is a job');
  expect(Math.abs(job.startedAtMs - Date.now())).toBeLessThan(60_000);
  expect((await stampRunOwnership(other, { job, runId: 1, pid: 1 }))._unsafeUnwrap()).toBe('stamped');
  expect((await createJobReaper(other, reaping).tick())._unsafeUnwrap()).toMatchObject({ examined: 1, reaped: 0 });
  const rows = await place.read(stored);
  for (const { ms } of rows) expect(Math.abs(Number(ms) - Date.now())).toBeLessThan(60_000);
  expect(rows).toHaveLength(2);
}

describe.each(kinds)('on $name', (kind) => {
  test.skipIf(kind.missing !== undefined)(
    'updatedAt may be a value of the caller’s, made anew for each write',
    async () => {
      await using place = await kind.open();
      await makeTables(place, { tasks: { updated_at: 'varchar(20)' } });
      await place.run("insert into tasks (id, stage) values (1, 'a')");
      let made = 0;
      const value = (eb: ExpressionBuilder<Tables, 'tasks'>) => {
        made += 1;
        return eb.val(`write ${made}`);
      };
      const { ownership, events } = ownershipOver(place.db, {
        ...tasksAlone,
        tasks: { table: 'tasks', id: 'id', stage: 'stage', updatedAt: { column: 'updated_at', value } },
      });
      for (const [expected, next] of [['a', 'b'] as const, ['b', 'c'] as const]) {
        expect((await updateStageCas(ownership, { taskId: 1, expected, next })).isOk()).toBe(true);
        expect(await place.read('select updated_at from tasks')).toEqual([{ updated_at: `write ${made}` }]);
      }
      expect(made).toBe(2);
      expect(events.filter((event) => event.type === 'survey.found' && event.table !== null)).toEqual([]);
    },
  );
});

describe.skipIf(mysql.missing !== undefined)('times on MySQL go by the type of their column', () => {
  test.each([
    ['timestamp(3) null', (name: string) => `unix_timestamp(${name}) * 1000`],
    ['datetime(3)', (name: string) => `timestampdiff(microsecond, '1970-01-01', ${name}) div 1000`],
  ])('%s, whatever the zones of the sessions are', async (instant, epoch) => {
    await using place = await mysql.open();
    const columns = ['started_at', 'finished_at', 'available_at'].map((name) => [name, instant] as const);
    await makeTables(place, { tasks: { updated_at: instant }, jobs: Object.fromEntries(columns) });
    const stored = `select ${epoch('updated_at')} as ms from tasks union all select ${epoch('started_at')} from jobs`;
    await acrossZones(place, "set time_zone = '-09:30'", "set time_zone = '+13:00'", stored);
  });

  test('a job that is due at an instant is due then in every zone, and not before', async () => {
    await using place = await mysql.open();
    await makeTables(place, { jobs: { available_at: 'timestamp(3) null', started_at: 'timestamp(3) null' } });
    await place.run(
      "insert into jobs (id, status, available_at) values (1, 'queued', current_timestamp(3) + interval 10 minute), (2, 'queued', current_timestamp(3) - interval 10 minute)",
    );
    for (const zone of ['-09:30', '+13:00']) {
      const { ownership } = ownershipOver(place.connect({ begin: [`set time_zone = '${zone}'`] }));
      expect((await claimNextJob(ownership))._unsafeUnwrap()?.jobId).toBe(2);
      expect((await claimNextJob(ownership))._unsafeUnwrap()).toBeNull();
      await place.run("update jobs set status = 'queued', started_at = null where id = 2");
    }
  });
});

describe.skipIf(postgres.missing !== undefined)('times on PostgreSQL go by the type of their column', () => {
  const zones = ["set time zone 'America/St_Johns'", "set time zone 'Asia/Tokyo'"] as const;

  test('timestamptz, whatever the zones of the sessions are', async () => {
    await using place = await postgres.open();
    await makeTables(place);
    const epoch = (name: string) => `extract(epoch from ${name}) * 1000`;
    const stored = `select ${epoch('updated_at')} as ms from tasks union all select ${epoch('started_at')} from jobs`;
    await acrossZones(place, ...zones, stored);
  });

  test('timestamptz in one table and timestamp in another', async () => {
    await using place = await postgres.open();
    await makeTables(place, { tasks: { updated_at: 'timestamp' } });
    await place.run(
      "insert into tasks (id, stage) values (1, 'a')",
      "insert into jobs (id, status) values (1, 'queued')",
    );
    const db = place.connect({ begin: [zones[0]] });
    const { ownership } = ownershipOver(db, { timeZone: 'UTC' });
    expect((await updateStageCas(ownership, { taskId: 1, expected: 'a', next: 'b' })).isOk()).toBe(true);
    const job = (await claimNextJob(ownership))._unsafeUnwrap();
    expect(Math.abs((job?.startedAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
    const [task] = await place.read("select extract(epoch from updated_at at time zone 'UTC') * 1000 as ms from tasks");
    expect(Math.abs(Number(task?.['ms']) - Date.now())).toBeLessThan(HOUR_MS / 60);
  });
});
