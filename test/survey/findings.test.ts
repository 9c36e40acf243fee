import {
  acquireLease,
  claimNextJob,
  defineStages,
  resetRunOwnership,
  sanitizeImpossibleQueued,
  stampRunOwnership,
  updateStageCas,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { found, type KindName, kindOf, kinds, makeTables, ownershipOver, refusal, tasksAlone } from './place.js';

const row = "insert into tasks (id, stage) values (1, 'a')";
const move = { taskId: 1, expected: 'a', next: 'b' } as const;

describe.each(kinds)('the survey on $name', (kind) => {
  describe.skipIf(kind.missing !== undefined)('finds', () => {
    test('nothing in tables that are as they should be, and refuses nothing', async () => {
      await using place = await kind.open();
      await makeTables(place);
      await place.run(row, "insert into jobs (id, task_id, status) values (1, 1, 'queued')");
      const owned = ownershipOver(place.db);
      expect(await found(owned)).toEqual([]);
      expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['ok']);
      expect(refusal(await claimNextJob(owned.ownership))).toEqual(['ok']);
    });

    test('tables that are not there, and refuses what writes them and nothing else', async () => {
      await using place = await kind.open();
      await makeTables(place);
      await place.run('drop table tasks', 'drop table jobs');
      const owned = ownershipOver(place.db);
      expect(await found(owned)).toEqual(['table-missing error', 'table-missing error']);
      expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['table-missing']);
      expect(refusal(await claimNextJob(owned.ownership))).toEqual(['table-missing']);
      expect(refusal(await acquireLease(owned.ownership, { taskId: 1, actor: 'a' }))).not.toEqual(['table-missing']);
    });

    test('the library’s own tables missing, and names ensureSchema', async () => {
      await using place = await kind.open();
      await makeTables(place);
      await place.run('drop table transition_lease');
      const { ownership } = ownershipOver(place.db);
      const refused = (await acquireLease(ownership, { taskId: 1, actor: 'a' }))._unsafeUnwrapErr();
      expect(refused).toMatchObject({ type: 'store-failure', kind: 'unsuitable' });
      expect(refused.message).toMatch(/"transition_lease" .*ensureSchema/);
    });

    test('columns that are not there', async () => {
      await using place = await kind.open();
      await makeTables(place);
      await place.run('alter table tasks drop column stage', 'alter table jobs drop column host');
      const owned = ownershipOver(place.db);
      expect(await found(owned)).toEqual(['column-missing error', 'column-missing error']);
      expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['column-missing']);
      expect(refusal(await sanitizeImpossibleQueued(owned.ownership))).toEqual(['column-missing']);
    });

    test('a column that is cleared and cannot be null', async () => {
      await using place = await kind.open();
      await makeTables(place, { jobs: { pid: `${kind.types.integer} not null default 0` } });
      const owned = ownershipOver(place.db);
      expect(await found(owned)).toEqual(['not-null-cleared error']);
      const reset = { jobId: 1, expected: 'any' } as const;
      expect(refusal(await resetRunOwnership(owned.ownership, reset))).toEqual(['not-null-cleared']);
    });

    test('a column that is computed', async () => {
      await using place = await kind.open();
      await makeTables(place, { tasks: { stage: `${kind.types.text} generated always as ('a') stored` } });
      const owned = ownershipOver(place.db, tasksAlone);
      expect(await found(owned)).toEqual(['generated-column error']);
      expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['generated-column']);
    });

    test('a trigger on updates, and goes on with it', async () => {
      await using place = await kind.open();
      await makeTables(place);
      await place.run(row, ...STAMPING[kind.name]);
      const owned = ownershipOver(place.db, { ...tasksAlone, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
      expect(await found(owned)).toEqual(['trigger-unseen advice']);
      expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['ok']);
      expect(await place.read('select stage from tasks where updated_at is not null')).toEqual([{ stage: 'b' }]);
    });

    test('ids of text in a column of numbers, and the reverse', async () => {
      await using place = await kind.open();
      await makeTables(place);
      const lease = { taskIdType: 'text', table: 'text_lease' };
      const text = ownershipOver(place.db, { ...tasksAlone, effects: undefined, lease });
      const code = kind.name === 'SQLite' ? 'id-affinity' : 'id-type';
      expect(await found(text)).toEqual(['table-missing error', `${code} error`].sort());
      await place.run(
        'drop table tasks',
        `create table tasks (id varchar(20) not null primary key, stage ${kind.types.text}, updated_at ${kind.types.instant})`,
      );
      const numbers = ownershipOver(place.db, tasksAlone);
      expect(await found(numbers)).toEqual(['id-type error']);
      expect(refusal(await updateStageCas(numbers.ownership, move))).toEqual(['id-type']);
    });

    test('times in whole seconds, where they are said to be so', async () => {
      await using place = await kind.open();
      await makeTables(place, { tasks: { updated_at: 'varchar(30)' } });
      const owned = ownershipOver(place.db, { ...tasksAlone, timeFormat: 'sqlite-seconds' });
      expect(await found(owned)).toEqual(['coarse-time warning']);
      await place.run(row);
      expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['ok']);
      const [task] = await place.read('select updated_at from tasks');
      expect(task?.['updated_at']).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    });

    test('under report, and refuses nothing; under off, nothing', async () => {
      await using place = await kind.open();
      await makeTables(place, { jobs: { pid: `${kind.types.integer} not null default 0` } });
      const reporting = ownershipOver(place.db, { survey: 'report' });
      expect(refusal(await claimNextJob(reporting.ownership))).toEqual(['ok']);
      const told = reporting.events.filter((event) => event.type === 'survey.found');
      expect(told).toContainEqual(expect.objectContaining({ code: 'not-null-cleared', level: 'error', table: 'jobs' }));
      void (await claimNextJob(reporting.ownership));
      expect(reporting.events.filter((event) => event.type === 'survey.found')).toHaveLength(told.length);
      const off = ownershipOver(place.db, { survey: 'off' });
      expect(refusal(await claimNextJob(off.ownership))).toEqual(['ok']);
      expect(off.events.filter((event) => event.type === 'survey.found')).toEqual([]);
    });

    test('under the mode off nothing, and nothing is refused', async () => {
      await using place = await kind.open();
      await makeTables(place, { jobs: { pid: `${kind.types.integer} not null default 0` } });
      const owned = ownershipOver(place.db, { mode: 'off' });
      expect(refusal(await claimNextJob(owned.ownership))).toEqual(['ok']);
    });

    test('in a transaction of the caller’s without harm to it', async () => {
      await using place = await kind.open();
      await makeTables(place);
      await place.run(row, 'drop table jobs');
      const { ownership } = ownershipOver(place.db);
      await place.db.transaction().execute(async (trx) => {
        const inside = ownership.using(trx);
        expect(refusal(await claimNextJob(inside))).toEqual(['table-missing']);
        expect(refusal(await updateStageCas(inside, move))).toEqual(['ok']);
      });
      expect(await place.read('select stage from tasks')).toEqual([{ stage: 'b' }]);
    });

    test('what was mended, at the next verb and not more often than each five seconds', async () => {
      await using place = await kind.open();
      await makeTables(place, { jobs: { pid: `${kind.types.integer} not null default 0` } });
      let monotonicMs = 1_000;
      const clock = {
        monotonicMs: () => monotonicMs,
        wallMs: () => 0,
        sleep: async () => {},
        schedule: () => ({ cancel: () => {} }),
      };
      const { ownership } = ownershipOver(place.db, { clock });
      expect(refusal(await claimNextJob(ownership))).toEqual(['not-null-cleared']);
      await place.run(...NULLABLE[kind.name]);
      monotonicMs += 4_999;
      expect(refusal(await claimNextJob(ownership))).toEqual(['not-null-cleared']);
      monotonicMs += 1;
      expect(refusal(await claimNextJob(ownership))).toEqual(['ok']);
    });
  });
});

const STAMPING: Readonly<Record<KindName, readonly string[]>> = {
  SQLite: [
    "create trigger stamp after update of stage on tasks begin update tasks set updated_at = 'now' where id = new.id; end",
  ],
  PostgreSQL: [
    'create function stamp() returns trigger language plpgsql as $$ begin new.updated_at := now(); return new; end $$',
    'create trigger stamp before update on tasks for each row execute function stamp()',
  ],
  MySQL: ['create trigger stamp before update on tasks for each row set new.updated_at = now(3)'],
};

const NULLABLE: Readonly<Record<KindName, readonly string[]>> = {
  SQLite: ['alter table jobs drop column pid', 'alter table jobs add column pid integer'],
  PostgreSQL: ['alter table jobs alter column pid drop not null'],
  MySQL: ['alter table jobs modify pid bigint null'],
};

describe.each([kindOf('PostgreSQL'), kindOf('MySQL')])('the survey on $name', (kind) => {
  describe.skipIf(kind.missing !== undefined)('finds', () => {
    const identity = { bootId: 'boot', pid: 1, start: 'start', host: 'h'.repeat(72) };

    test('a host that does not fit, before a claim commits whose stamp would fail', async () => {
      await using place = await kind.open();
      await makeTables(place, { jobs: { host: 'varchar(64)' } });
      await place.run("insert into jobs (id, task_id, status) values (1, 1, 'queued')");
      const owned = ownershipOver(place.db, { identity });
      expect(await found(owned)).toEqual(['text-too-short error']);
      expect(refusal(await claimNextJob(owned.ownership))).toEqual(['text-too-short']);
      expect(await place.read('select status from jobs')).toEqual([{ status: 'queued' }]);
    });

    test('a host that fits while others may not, as a warning', async () => {
      await using place = await kind.open();
      await makeTables(place, { jobs: { host: 'varchar(100)' } });
      await place.run("insert into jobs (id, task_id, status) values (1, 1, 'queued')");
      const owned = ownershipOver(place.db, { identity });
      expect(await found(owned)).toEqual(['text-too-short warning']);
      const job = (await claimNextJob(owned.ownership))._unsafeUnwrap();
      if (job === null) throw new Error('there is a job');
      expect((await stampRunOwnership(owned.ownership, { job, runId: 1, pid: 1 }))._unsafeUnwrap()).toBe('stamped');
    });

    test('stages and statuses that do not fit', async () => {
      await using place = await kind.open();
      await makeTables(place, { tasks: { stage: 'varchar(4)' }, jobs: { status: 'varchar(6)' } });
      const tasks = {
        table: 'tasks',
        id: 'id',
        stage: 'stage',
        transitions: defineStages({ draft: ['done'], done: [] }),
      };
      const owned = ownershipOver(place.db, { tasks });
      expect(await found(owned)).toEqual(['text-too-short error', 'text-too-short error']);
    });

    test('a stage that does not fit, though nobody has said the stages before', async () => {
      await using place = await kind.open();
      await makeTables(place, { tasks: { stage: 'varchar(4)' } });
      await place.run(row);
      const owned = ownershipOver(place.db, tasksAlone);
      expect(refusal(await updateStageCas(owned.ownership, { ...move, next: 'deploy' }))).toEqual(['text-too-short']);
      expect(refusal(await updateStageCas(owned.ownership, { ...move, next: 'done' }))).toEqual(['ok']);
    });

    test('a day where an instant is written', async () => {
      await using place = await kind.open();
      await makeTables(place, { jobs: { started_at: 'date' } });
      const owned = ownershipOver(place.db);
      expect(await found(owned)).toContain('date-for-instant error');
      expect(refusal(await claimNextJob(owned.ownership))).toEqual(['date-for-instant']);
    });

    test('a time column of whole seconds', async () => {
      await using place = await kind.open();
      await makeTables(place, { jobs: { started_at: kind.name === 'MySQL' ? 'datetime' : 'timestamptz(0)' } });
      expect(await found(ownershipOver(place.db))).toEqual(['coarse-time warning']);
    });

    test('an enumeration without the status', async () => {
      await using place = await kind.open();
      const labels = "'queued', 'running'";
      if (kind.name === 'PostgreSQL') await place.run(`create type job_status as enum (${labels})`);
      await makeTables(place, { jobs: { status: kind.name === 'PostgreSQL' ? 'job_status' : `enum(${labels})` } });
      const owned = ownershipOver(place.db);
      expect(await found(owned)).toEqual(['enum-lacks error']);
      expect(refusal(await claimNextJob(owned.ownership))).toEqual(['enum-lacks']);
    });

    test('an enumeration without the next stage, when that is written', async () => {
      await using place = await kind.open();
      const labels = "'a', 'b'";
      if (kind.name === 'PostgreSQL') await place.run(`create type task_stage as enum (${labels})`);
      await makeTables(place, { tasks: { stage: kind.name === 'PostgreSQL' ? 'task_stage' : `enum(${labels})` } });
      await place.run(row);
      const { ownership } = ownershipOver(place.db, tasksAlone);
      expect(refusal(await updateStageCas(ownership, { ...move, next: 'c' }))).toEqual(['enum-lacks']);
      expect(refusal(await updateStageCas(ownership, move))).toEqual(['ok']);
    });
  });
});
