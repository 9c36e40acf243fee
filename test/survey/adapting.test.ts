import { sql } from 'kysely';
import {
  acquireLease,
  claimNextJob,
  ensureSchema,
  resetRunOwnership,
  sanitizeImpossibleQueued,
  stampRunOwnership,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import {
  found,
  type Kind,
  kindOf,
  kinds,
  makeTables,
  ownershipOver,
  type Place,
  refusal,
  tasksAlone,
} from './place.js';

const move = { taskId: 1, expected: 'a', next: 'b' } as const;

/** Tables of several tenants, whose ids are unique together with the tenant alone. */
async function tenants(place: Place): Promise<void> {
  const { integer } = place.kind.types;
  await makeTables(place, {
    tasks: { tenant: `${integer} not null`, id: `${integer} not null` },
    jobs: { tenant: `${integer} not null`, id: `${integer} not null` },
    after: { tasks: 'primary key (tenant, id)', jobs: 'primary key (tenant, id)' },
  });
  await place.run("insert into tasks (tenant, id, stage) values (1, 1, 'a'), (2, 1, 'a'), (2, 3, 'a')");
}

const stages = (place: Place) =>
  place
    .read('select tenant, id, stage from tasks order by tenant, id')
    .then((rows) => rows.map(({ tenant, id, stage }) => `${String(tenant)}/${String(id)} ${String(stage)}`));

describe.each(kinds)('a key of tenant and id on $name', (kind) => {
  describe.skipIf(kind.missing !== undefined)('is met', () => {
    const untouched = ['1/1 a', '2/1 a', '2/3 a'];

    test('with a warning, and a write that would move two tasks is undone and refused', async () => {
      await using place = await kind.open();
      await tenants(place);
      const owned = ownershipOver(place.db);
      expect(await found(owned)).toEqual(['id-not-unique warning', 'id-not-unique warning']);
      const { ownership } = owned;
      expect(refusal(await updateStageCas(ownership, move))).toEqual(['id-not-unique']);
      expect(refusal(await updateStageCas(ownership, { ...move, evenIfHeld: true }))).toEqual(['id-not-unique']);
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'a' }))._unsafeUnwrap();
      expect(refusal(await updateStageCas(ownership, { ...move, lease }))).toEqual(['id-not-unique']);
      expect(refusal(await updateStageCas(ownership, { ...move, lease, release: true }))).toEqual(['id-not-unique']);
      expect(await stages(place)).toEqual(untouched);
      expect(await place.read('select task_id from transition_lease')).toHaveLength(1);
    });

    test('in a transaction of the caller’s, where nothing of it stays and all else does', async () => {
      await using place = await kind.open();
      await tenants(place);
      const { ownership } = ownershipOver(place.db);
      await place.db.transaction().execute(async (trx) => {
        await sql`update tasks set updated_at = null where id = 3`.execute(trx);
        expect(refusal(await updateStageCas(ownership.using(trx), move))).toEqual(['id-not-unique']);
        expect(refusal(await updateStageCas(ownership.using(trx), { ...move, taskId: 3 }))).toEqual(['ok']);
      });
      expect(await stages(place)).toEqual(['1/1 a', '2/1 a', '2/3 b']);
    });

    test('and ids from one sequence go on working, each in a transaction', async () => {
      await using place = await kind.open();
      await tenants(place);
      const { ownership } = ownershipOver(place.db);
      expect(refusal(await updateStageCas(ownership, { ...move, taskId: 3 }))).toEqual(['ok']);
      const ask = { taskId: 3, actor: 'a', stage: 'b' } as const;
      const moved = await withTransitionLease(ownership, ask, (held) => held.updateStage('c', { release: true }));
      expect(moved.isOk()).toBe(true);
      expect(await stages(place)).toEqual(['1/1 a', '2/1 a', '2/3 c']);
      const lost = (await updateStageCas(ownership, { ...move, taskId: 3 }))._unsafeUnwrapErr();
      expect(lost).toMatchObject({ type: 'lost-race', actual: 'c' });
    });

    test('and no verb on jobs takes two', async () => {
      await using place = await kind.open();
      await tenants(place);
      const queue = (tenant: number, more = ['null', 'null']) =>
        `insert into jobs (tenant, id, status, run_id, pid) values (${tenant}, 1, 'queued', ${more.join(', ')})`;
      await place.run(queue(1), queue(2));
      const { ownership } = ownershipOver(place.db);
      const unchanged = [
        { tenant: 1, status: 'queued' },
        { tenant: 2, status: 'queued' },
      ];
      const jobs = async () =>
        (await place.read('select tenant, status from jobs order by tenant')).map(({ tenant, status }) => ({
          tenant: Number(tenant),
          status,
        }));
      expect(refusal(await claimNextJob(ownership))).toEqual(['id-not-unique']);
      expect(await jobs()).toEqual(unchanged);
      await place.db.transaction().execute(async (trx) => {
        expect(refusal(await claimNextJob(ownership.using(trx)))).toEqual(['id-not-unique']);
      });
      expect(await jobs()).toEqual(unchanged);
      const reset = { jobId: 1, from: 'queued', expected: 'any' } as const;
      expect(refusal(await resetRunOwnership(ownership, reset))).toEqual(['id-not-unique']);
      await place.run('delete from jobs where tenant = 2');
      const job = (await claimNextJob(ownership))._unsafeUnwrap();
      if (job === null) throw new Error('there is a job');
      await place.run(
        queue(2),
        "update jobs set status = 'running', started_at = (select s from (select min(started_at) as s from jobs) as x)",
      );
      expect(refusal(await stampRunOwnership(ownership, { job, runId: 1, pid: 1 }))).toEqual(['id-not-unique']);
      expect(await place.read('select id from jobs where pid is not null')).toEqual([]);
      await place.run('delete from jobs', queue(1, ['7', '8']), queue(2, ['7', '9']));
      const sanitized = (await sanitizeImpossibleQueued(ownership))._unsafeUnwrap();
      expect(sanitized.sanitized).toEqual([]);
      expect(await place.read('select id from jobs where pid is not null')).toHaveLength(2);
    });

    test('where an index is on the id alone as well, by one statement as ever', async () => {
      await using place = await kind.open();
      await tenants(place);
      await place.run('delete from tasks where tenant = 1', 'create unique index one_id on tasks (id)');
      const { db, statements } = place.counted();
      const { ownership } = ownershipOver(db, tasksAlone);
      expect(refusal(await updateStageCas(ownership, move))).toEqual(['ok']);
      expect(statements.filter((text) => /^(begin|update|savepoint)/i.test(text))).toHaveLength(1);
    });
  });
});

const PARTITIONED = [
  'drop table tasks',
  'create table tasks (tenant bigint not null, id bigint not null, stage text, updated_at timestamptz, primary key (tenant, id)) partition by list (tenant)',
  'create table tasks_1 partition of tasks for values in (1)',
  "insert into tasks values (1, 1, 'a')",
];

describe.skipIf(kindOf('PostgreSQL').missing !== undefined)('what is unusual on PostgreSQL goes on working', () => {
  const kind: Kind = kindOf('PostgreSQL');

  test('a table that is partitioned by tenant', async () => {
    await using place = await kind.open();
    await makeTables(place);
    await place.run(...PARTITIONED);
    const owned = ownershipOver(place.db, tasksAlone);
    expect(await found(owned)).toEqual(['id-not-unique warning']);
    expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['ok']);
  });

  test('row-level security', async () => {
    await using place = await kind.open();
    await makeTables(place);
    await place.run(
      "insert into tasks (id, stage) values (1, 'a')",
      'alter table tasks enable row level security, force row level security',
      'create policy all_rows on tasks using (true) with check (true)',
    );
    const owned = ownershipOver(place.db, tasksAlone);
    expect(await found(owned)).toEqual([]);
    expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['ok']);
  });
});

const view = (place: Place, grouped: boolean) => [
  'alter table tasks rename to kept_tasks',
  `create view tasks as select id, stage, ${grouped ? 'max(updated_at) as updated_at' : 'updated_at'} from kept_tasks${grouped ? ' group by id, stage' : ''}`,
  ...(place.kind.name === 'SQLite' && !grouped
    ? [
        'create trigger moved instead of update on tasks begin update kept_tasks set stage = new.stage, updated_at = new.updated_at where id = old.id; end',
      ]
    : []),
];

describe.each(kinds)('a view on $name', (kind) => {
  describe.skipIf(kind.missing !== undefined)('of tasks', () => {
    test('that can be updated goes on working', async () => {
      await using place = await kind.open();
      await makeTables(place);
      await place.run("insert into tasks (id, stage) values (1, 'a')", ...view(place, false));
      const owned = ownershipOver(place.db, tasksAlone);
      expect((await found(owned)).filter((each) => !each.endsWith('advice'))).toEqual(['id-not-unique warning']);
      expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['ok']);
      expect(await place.read('select stage from kept_tasks')).toEqual([{ stage: 'b' }]);
    });

    test('that groups is refused', async () => {
      await using place = await kind.open();
      await makeTables(place);
      await place.run(...view(place, true));
      const owned = ownershipOver(place.db, tasksAlone);
      expect(await found(owned)).toEqual(['id-not-unique error']);
      expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['id-not-unique']);
    });
  });
});

describe.each(kinds)('the price of the survey on $name', (kind) => {
  test.skipIf(kind.missing !== undefined)('is two statements an ownership, and none under off', async () => {
    await using place = await kind.open();
    await makeTables(place);
    await place.run("insert into tasks (id, stage) values (1, 'a')");
    const count = async (options: Record<string, unknown>) => {
      const { db, statements } = place.counted();
      const { ownership } = ownershipOver(db, options);
      void (await updateStageCas(ownership, { ...move, expected: 'none' }));
      void (await updateStageCas(ownership, { ...move, expected: 'none' }));
      void (await claimNextJob(ownership));
      return statements.filter((text) => /information_schema|pg_class|pragma_|current_setting|@@sql_mode/.test(text))
        .length;
    };
    expect(await count({})).toBe(2);
    expect(await count({ survey: 'off' })).toBe(0);
    expect(await count({ mode: 'off' })).toBe(0);
    const { db, statements } = place.counted();
    const { ownership } = ownershipOver(db);
    (await ensureSchema(ownership))._unsafeUnwrap();
    const from = statements.length;
    await place.run("update tasks set stage = 'a'");
    void (await updateStageCas(ownership, move));
    expect(statements.slice(from)).toHaveLength(1);
    const asked = await Promise.all([1, 2, 3].map(() => claimNextJob(ownershipOver(db).ownership)));
    expect(asked.every((result) => result.isOk())).toBe(true);
  });
});
