import {
  acquireLease,
  createTransitionOwnership,
  type Dialect,
  ensureSchema,
  inspectLease,
  type LeaseOption,
  releaseLease,
  sqliteDialect,
  updateStageCas,
} from 'transition-ownership';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestFile } from '../rig/file.js';
import { err, ok } from '../rig/proofs.js';
import { openRig } from '../rig/rig.js';

interface Tables {
  tasks: { id: number; stage: string };
}

const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;

/** The lease table as it was before there were tokens and claims: seven columns, the task its key. */
const FIRST_SHAPE = `create table transition_lease (
  task_id integer primary key, owner text not null, owner_pid integer, owner_boot_id text, run_id integer,
  stage text, acquired_at text not null default (datetime('now')))`;

const COLUMNS = [
  'fencing_token',
  'claim',
  'task_id',
  'owner',
  'owner_pid',
  'owner_boot_id',
  'run_id',
  'stage',
  'acquired_at',
  'owner_host',
  'owner_start',
  'acquired_ms',
  'expires_ms',
  'ttl_ms',
  'deadline_ms',
];

let file: TestFile<Tables>;
const owning = (lease: LeaseOption<'integer', 'integer'> = {}) =>
  createTransitionOwnership({ db: file.db, tasks, lease });
const columns = async (table = 'transition_lease') =>
  (await file.read(`select name from pragma_table_info('${table}')`)).map(({ name }) => name);
const tables = async () =>
  (
    await file.read("select name from sqlite_master where type = 'table' and name not like 'sqlite%' order by name")
  ).map(({ name }) => name);

beforeEach(async () => {
  file = new TestFile();
  await file.run(
    'create table tasks (id integer primary key, stage text)',
    "insert into tasks values (1, 'a'), (2, 'a')",
  );
});

afterEach(async () => {
  await file[Symbol.asyncDispose]();
});

describe('ensureSchema', () => {
  test('creates exactly one table, and finds it unchanged ever after', async () => {
    const own = owning();
    expect(await ok(ensureSchema(own))).toBe('created');
    expect(await tables()).toEqual(['tasks', 'transition_lease']);
    expect(await columns()).toEqual(COLUMNS);
    const [before] = await file.read("select sql from sqlite_master where name = 'transition_lease'");
    for (let times = 0; times < 3; times += 1) expect(await ok(ensureSchema(own))).toBe('unchanged');
    expect(await file.read("select sql from sqlite_master where name = 'transition_lease'")).toEqual([before]);
  });

  test('makes tokens that grow across deletes, and one owner for a task at most', async () => {
    await ok(ensureSchema(owning()));
    const [{ sql } = { sql: '' }] = await file.read("select sql from sqlite_master where name = 'transition_lease'");
    expect(sql).toMatch(/"fencing_token" integer primary key autoincrement/);
    expect(sql).toMatch(/unique \("task_id"\)/);
    expect(sql).toMatch(/"claim" text not null/);
  });

  test('alters no table of the caller’s', async () => {
    const before = await file.read('select * from sqlite_master order by name');
    await ok(ensureSchema(owning()));
    expect(await file.read("select * from sqlite_master where tbl_name = 'tasks' order by name")).toEqual(before);
  });

  test('lets many create it at once: one does, all go on', async () => {
    const dbs = Array.from({ length: 8 }, () => file.open());
    const changes = await Promise.all(dbs.map((db) => ok(ensureSchema(createTransitionOwnership({ db, tasks })))));
    expect([...changes].sort()).toEqual(['created', ...Array<string>(7).fill('unchanged')]);
  });

  test('names the table and its ids as the options say', async () => {
    const own = createTransitionOwnership({
      db: file.db,
      tasks,
      lease: { table: 'deploy_lease', schema: 'main', runIdType: 'text' },
    });
    expect(await ok(ensureSchema(own))).toBe('created');
    expect(await ok(ensureSchema(own))).toBe('unchanged');
    const types = await file.read(
      "select name, type from pragma_table_info('deploy_lease') where name in ('task_id', 'run_id')",
    );
    expect(types.map(({ type }) => String(type).toLowerCase())).toEqual(['integer', 'text']);
  });

  test('refuses a transaction, before any statement', async () => {
    const own = owning();
    await file.db.transaction().execute(async (trx) => {
      expect(() => ensureSchema(own.using(trx))).toThrow(
        new TypeError('ensureSchema needs the ownership itself, not one made by using(trx)'),
      );
    });
    expect(await tables()).toEqual(['tasks']);
  });

  test('fails as a value where the database does', async () => {
    const own = owning();
    await file.db.destroy();
    expect(await err(ensureSchema(own))).toMatchObject({ type: 'store-failure', outcome: 'not-applied' });
  });
});

test('ensureSchema leaves the lock of the schema whatever goes wrong behind it', async () => {
  let left = 0;
  const dialect: Dialect = {
    ...sqliteDialect,
    createTable: () => {
      throw new Error('a fault of the dialect');
    },
    schemaLock: {
      enter: () => [],
      leave: () => {
        left += 1;
        return [];
      },
    },
  };
  const failure = await err(ensureSchema(createTransitionOwnership({ db: file.db, tasks, dialect })));
  expect(failure.message).toContain('a fault of the dialect');
  expect(left).toBe(1);
});

test('ensureSchema lets one through at a time where two tables would be rebuilt under one name', async () => {
  const locked: unknown[] = [];
  const schemaLock: Dialect['schemaLock'] = {
    enter: (named) => {
      locked.push(named);
      return [];
    },
    leave: () => [],
  };
  for (const end of ['first', 'second']) {
    const lease = { table: `${'lease_of_a_tenant_'.repeat(3)}${end}` };
    const dialect = { ...sqliteDialect, schemaLock };
    await ok(ensureSchema(createTransitionOwnership({ db: file.db, tasks, lease, dialect })));
  }
  expect(locked).toHaveLength(2);
  expect(locked[1]).toEqual(locked[0]);
});

test('ensureSchema that cannot look makes nothing: an error is never read as a table that is missing', async () => {
  await using rig = await openRig();
  const a = rig.start('a');
  const own = a.own({ lease: { table: 'other_lease' } });
  for (const fault of ['strange', 'refused', 'busy'] as const) {
    a.wire.fault(/pragma_table_info/, fault);
    expect(await err(ensureSchema(own))).toMatchObject({ type: 'store-failure' });
    a.wire.mend();
  }
  expect(a.wire.matching(/create|drop|alter/)).toEqual([]);
  expect(rig.read("select name from sqlite_master where name = 'other_lease'")).toEqual([]);
  expect(await ok(ensureSchema(own))).toBe('created');
});

describe('ensureSchema of a table of the first shape', () => {
  beforeEach(async () => {
    await file.run(
      FIRST_SHAPE,
      "insert into transition_lease values (1, 'monitor', 4711, 'boot', 77, 'deploy', '2026-09-24 08:00:00')",
      "insert into transition_lease (task_id, owner) values (2, 'reaper')",
    );
  });

  test('upgrades it in place and keeps every row, each with a TTL from now', async () => {
    const before = Date.now();
    expect(await ok(ensureSchema(owning({ ttlMs: 60_000 })))).toBe('upgraded');
    const rows = await file.read('select * from transition_lease order by task_id');
    expect(rows).toMatchObject([
      {
        task_id: 1,
        owner: 'monitor',
        owner_pid: 4711,
        owner_boot_id: 'boot',
        run_id: 77,
        stage: 'deploy',
        acquired_at: '2026-09-24 08:00:00',
        owner_host: null,
        owner_start: null,
        ttl_ms: 60_000,
        deadline_ms: null,
      },
      { task_id: 2, owner: 'reaper', owner_pid: null, ttl_ms: 60_000 },
    ]);
    for (const { acquired_ms, expires_ms, claim } of rows) {
      expect(Number(acquired_ms)).toBeGreaterThanOrEqual(before);
      expect(Number(expires_ms)).toBe(Number(acquired_ms) + 60_000);
      expect(claim).toMatch(/^[0-9a-f]{32}$/);
    }
    expect(new Set(rows.map(({ claim }) => claim)).size).toBe(2);
    expect(await columns()).toEqual(COLUMNS);
    expect(await tables()).toEqual(['tasks', 'transition_lease']);
  });

  test('is repeatable', async () => {
    await ok(ensureSchema(owning()));
    const rows = await file.read('select * from transition_lease');
    expect(await ok(ensureSchema(owning()))).toBe('unchanged');
    expect(await file.read('select * from transition_lease')).toEqual(rows);
  });

  test('lets many upgrade it at once, without losing or doubling a row', async () => {
    const dbs = Array.from({ length: 8 }, () => file.open());
    const changes = await Promise.all(dbs.map((db) => ok(ensureSchema(createTransitionOwnership({ db, tasks })))));
    expect([...changes].sort()).toEqual([...Array<string>(7).fill('unchanged'), 'upgraded']);
    expect(await file.read('select task_id from transition_lease order by task_id')).toEqual([
      { task_id: 1 },
      { task_id: 2 },
    ]);
  });

  // A transaction leaves nothing behind that is broken off: what is there is somebody's.
  test('is not begun where a table is in its way, which keeps its rows', async () => {
    const table = 'transition_lease_replacement';
    await file.run(
      FIRST_SHAPE.replace('transition_lease', table),
      `insert into ${table} (task_id, owner) values (3, 'x')`,
    );
    const failure = await err(ensureSchema(owning()));
    expect(failure).toMatchObject({ kind: 'schema', retryable: false, outcome: 'not-applied' });
    expect(failure.message).toContain(`the table "${table}" is in the way of an upgrade`);
    expect(await file.read(`select task_id from ${table}`)).toEqual([{ task_id: 3 }]);
    expect(await file.read('select count(*) as n from transition_lease')).toEqual([{ n: 2 }]);
  });

  test('leaves a table alone that has the name which an old one gets elsewhere', async () => {
    await file.run('create table transition_lease_retired (half integer)');
    expect(await ok(ensureSchema(owning()))).toBe('upgraded');
    expect(await tables()).toEqual(['tasks', 'transition_lease', 'transition_lease_retired']);
  });

  test.each([
    ['of the first shape', FIRST_SHAPE.replace('transition_lease', 'transition_lease_retired')],
    ['that lacks a column', 'create table transition_lease_retired (task_id integer, owner text)'],
    ['of the present shape', 'create table transition_lease_retired as select * from transition_lease'],
  ])('once done, leaves a table %s alone, whatever its name', async (_, create) => {
    const own = owning();
    await ok(ensureSchema(own));
    await file.run(create);
    expect(await ok(ensureSchema(own))).toBe('unchanged');
    expect(await tables()).toEqual(['tasks', 'transition_lease', 'transition_lease_retired']);
  });

  test('leaves the old table as it was when it fails', async () => {
    await file.run(
      "insert into transition_lease (task_id, owner) values (3, 'x')",
      'create view watching as select owner from transition_lease where missing = 1',
    );
    const before = await file.read('select * from transition_lease');
    expect(await err(ensureSchema(owning()))).toMatchObject({ type: 'store-failure', kind: 'schema' });
    expect(await file.read('select * from transition_lease')).toEqual(before);
    expect(await columns()).toHaveLength(7);
  });

  test('gives leases like any other: held until they expire, judged, released and followed by greater tokens', async () => {
    const own = owning({ ttlMs: 60_000 });
    await ok(ensureSchema(own));
    expect(await ok(inspectLease(own, 1))).toMatchObject({
      state: 'held',
      verdict: 'live',
      reason: 'unexpired',
      holder: { actor: 'monitor', pid: 4711, deadlineAtMs: null },
    });
    expect(await err(acquireLease(own, { taskId: 1, actor: 'finalizer' }))).toMatchObject({ type: 'lease-busy' });
    await file.run('update transition_lease set expires_ms = 1');
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'finalizer' }));
    expect(lease.fencingToken).toBeGreaterThan(2);
    await ok(updateStageCas(own, { taskId: 1, expected: 'a', next: 'b', lease }));
    expect(await ok(releaseLease(own, lease))).toBe('released');
  });

  test('stops writers of the old shape loudly', async () => {
    await ok(ensureSchema(owning()));
    await expect(file.run("insert into transition_lease (task_id, owner) values (9, 'old')")).rejects.toThrow(
      /NOT NULL constraint failed/,
    );
  });
});

describe('ensureSchema of a name that is somebody else’s', () => {
  test.each([
    [
      'a table of the caller’s',
      'create table transition_lease (id integer primary key, note text)',
      '(note) values (1)',
    ],
    ['one that shares columns', 'create table transition_lease (task_id, owner)', '(task_id, owner) values (1, 1)'],
  ])('fails and touches nothing: %s', async (_, create, row) => {
    await file.run(create, `insert into transition_lease ${row}`);
    const before = await file.read("select * from sqlite_master where name = 'transition_lease'");
    const failed = await err(ensureSchema(owning()));
    expect(failed).toMatchObject({ type: 'store-failure', kind: 'schema', retryable: false, outcome: 'not-applied' });
    expect(failed.message).toContain('the table "transition_lease" is there already and is not the library’s');
    expect(await file.read("select * from sqlite_master where name = 'transition_lease'")).toEqual(before);
    expect(await file.read('select count(*) as n from transition_lease')).toEqual([{ n: 1 }]);
  });

  test('fails on the table of the tasks themselves', async () => {
    expect(await err(ensureSchema(owning({ schema: 'main', table: 'tasks' })))).toMatchObject({ kind: 'schema' });
    expect(await file.read('select id from tasks order by id')).toEqual([{ id: 1 }, { id: 2 }]);
  });
});
