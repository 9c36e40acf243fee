import { Migrator } from 'kysely';
import { acquireLease, createTransitionOwnership, ensureSchema, releaseLease } from 'transition-ownership';
import { createLeaseTable } from 'transition-ownership/migrations';
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
