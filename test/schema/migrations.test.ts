import { Migrator } from 'kysely';
import { acquireLease, createTransitionOwnership, ensureSchema, releaseLease } from 'transition-ownership';
import { createEffectTable, createLeaseTable, effectTable, leaseTable } from 'transition-ownership/migrations';
import { expect, test } from 'vitest';
import { TestFile } from '../rig/file.js';
import { ok } from '../rig/proofs.js';

interface Tables {
  tasks: { id: number; stage: string };
}

const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;

test('createLeaseTable goes up and down by Kysely’s Migrator, among migrations of the caller’s', async () => {
  await using file = new TestFile<Tables>();
  const migrator = new Migrator({
    db: file.db,
    provider: {
      getMigrations: async () => ({
        '001_tasks': {
          up: async (db) => {
            await db.schema
              .createTable('tasks')
              .addColumn('id', 'integer', (id) => id.primaryKey())
              .addColumn('stage', 'text')
              .execute();
          },
        },
        '002_leases': createLeaseTable(),
      }),
    },
  });
  const up = await migrator.migrateToLatest();
  expect(up.error).toBeUndefined();
  expect(up.results?.map(({ migrationName, status }) => [migrationName, status])).toEqual([
    ['001_tasks', 'Success'],
    ['002_leases', 'Success'],
  ]);
  const own = createTransitionOwnership({ db: file.db, tasks });
  expect(await ok(ensureSchema(own))).toBe('unchanged');
  await file.run("insert into tasks (id, stage) values (1, 'deploy')");
  const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
  await ok(releaseLease(own, lease));

  const down = await migrator.migrateDown();
  expect(down.error).toBeUndefined();
  expect(await file.read("select name from sqlite_master where name = 'transition_lease'")).toEqual([]);
  expect((await migrator.migrateToLatest()).error).toBeUndefined();
  expect(await ok(ensureSchema(own))).toBe('unchanged');
});

test('createLeaseTable makes what ensureSchema makes, for every kind of id', async () => {
  for (const taskIdType of ['integer', 'bigint', 'text'] as const) {
    await using file = new TestFile<{ tasks: { id: never; stage: string } }>();
    await createLeaseTable({ table: 'by_migration', taskIdType }).up(file.db);
    const options = { db: file.db, tasks, lease: { table: 'by_ensuring', taskIdType } };
    await ok(ensureSchema(createTransitionOwnership(options as never)));
    const [migrated, ensured] = await Promise.all(
      ['by_migration', 'by_ensuring'].map((table) => file.read(`select * from pragma_table_info('${table}')`)),
    );
    expect(migrated).toEqual(ensured);
  }
});

test('createLeaseTable up is repeatable, and down of nothing is nothing', async () => {
  await using file = new TestFile<Tables>();
  const migration = createLeaseTable({ table: 'deploy_lease', schema: 'main' });
  await migration.up(file.db);
  await migration.up(file.db);
  await migration.down(file.db);
  await migration.down(file.db);
  expect(await file.read("select name from sqlite_master where name = 'deploy_lease'")).toEqual([]);
});

test.each(['x"; drop table job; --', '', 'a.b', 'a b', '1a', 'é', 'x'.repeat(64)])(
  'createLeaseTable refuses the name %j',
  (table) => {
    expect(() => createLeaseTable({ table })).toThrow(RangeError);
    expect(() => createLeaseTable({ schema: table })).toThrow('schema must be a letter or underscore');
  },
);

test('leaseTable and effectTable are the migrations of an ownership with the default tables', async () => {
  await using file = new TestFile<Tables>();
  const migrator = new Migrator({
    db: file.db,
    provider: { getMigrations: async () => ({ '001_leases': leaseTable, '002_effects': effectTable }) },
  });
  expect((await migrator.migrateToLatest()).error).toBeUndefined();
  expect(await ok(ensureSchema(createTransitionOwnership({ db: file.db, tasks, effects: {} })))).toBe('unchanged');
  await migrator.migrateDown();
  expect((await migrator.migrateDown()).error).toBeUndefined();
  const left = "select name from sqlite_master where name in ('transition_lease', 'transition_effect')";
  expect(await file.read(left)).toEqual([]);
});

test.each([
  ['options that are none', () => createLeaseTable(null as never), TypeError, 'options must be an object, got null'],
  ['options that are text', () => createEffectTable('x' as never), TypeError, 'options must be an object, got "x"'],
  [
    'a kind of id that there is not',
    () => createLeaseTable({ taskIdType: 'uuid' as never }),
    RangeError,
    'taskIdType must be one of "integer", "bigint", "text", got "uuid"',
  ],
  [
    'a kind of run id that there is not',
    () => createLeaseTable({ runIdType: 'uuid' as never }),
    RangeError,
    'runIdType must be one of "integer", "bigint", "text", got "uuid"',
  ],
  [
    'a kind of id that the journal does not know',
    () => createEffectTable({ taskIdType: 7 as never }),
    RangeError,
    'taskIdType must be one of "integer", "bigint", "text", got 7',
  ],
  ['a name that is none', () => createLeaseTable({ table: 'a b' }), RangeError, 'table'],
])('migrations refuse %s, before any statement', (_, make, kind, message) => {
  expect(make).toThrow(kind);
  expect(make).toThrow(message);
});
