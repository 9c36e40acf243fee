import { CamelCasePlugin, type KyselyPlugin } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  claimNextJob,
  createTransitionOwnership,
  ensureSchema,
  inspectLease,
  ownedBy,
  reclaimStaleLeases,
  releaseLease,
  releaseLeases,
  sanitizeImpossibleQueued,
  snapshot,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { TestFile } from '../rig/file.js';
import { err, ok } from '../rig/proofs.js';

interface Work {
  id: number;
  task_id: number | null;
  status: 'queued' | 'running' | 'failed';
  run_id: number | null;
  pid: number | null;
  started_at: string | null;
}

describe('names of the caller’s', () => {
  const hostile = [
    ['order', 'group', 'select', 'where'],
    ['Tasks', 'Id', 'Stage', 'UpdatedAt'],
    ['sub tasks', 'the id', 'the stage', 'at'],
    ['ta"sks', 'i"d', 'sta"ge', '"'],
    ['tasks; drop table victim; --', 'id) --', "stage' or '1' = '1", 'at/*'],
    ['задачи', '号', 'étape', '🕑'],
  ] as const;

  test.each(hostile)('are quoted, whatever they hold: %s', async (table, id, stage, updatedAt) => {
    await using file = new TestFile<Record<string, Record<string, number | string | null>>>();
    const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
    await file.run(
      `create table ${quoted(table)} (${quoted(id)} integer primary key, ${quoted(stage)} text, ${quoted(updatedAt)} text)`,
      `insert into ${quoted(table)} values (1, 'a', null), (2, 'a', null)`,
      'create table victim (id integer)',
    );
    const own = createTransitionOwnership({
      db: file.db,
      tasks: { table, id, stage, updatedAt } as never,
    });
    await ok(ensureSchema(own));
    const move = { taskId: 1, expected: 'a', next: 'b' } as never;
    await ok(
      withTransitionLease(own, { taskId: 1, actor: 'monitor', stage: 'a' } as never, (held) =>
        held.updateStage('b' as never),
      ),
    );
    expect(await err(updateStageCas(own, move))).toMatchObject({ type: 'lost-race', actual: 'b' });
    await ok(updateStageCas(own, { taskId: 1, expected: 'b', next: 'c', set: { [updatedAt]: 'now' } } as never));
    expect(
      await file.read(`select ${quoted(stage)} as stage, ${quoted(updatedAt)} as at from ${quoted(table)}`),
    ).toEqual([
      { stage: 'c', at: 'now' },
      { stage: 'a', at: null },
    ]);
    expect(await file.read('select count(*) as n from victim')).toEqual([{ n: 0 }]);
  });

  test.each(['page', 'queued', 'given', 'each', 'clock'])(
    'may be those that a statement gives to its own parts: %s',
    async (table) => {
      await using file = new TestFile<Record<string, Work>>();
      await file.run(
        `create table ${table} (id integer primary key, task_id integer, status text, run_id integer, pid integer, started_at text)`,
        `insert into ${table} values (1, 1, 'queued', 7, null, null)`,
      );
      const columns = { id: 'id', taskId: 'task_id', status: 'status', runId: 'run_id', pid: 'pid' } as const;
      const statuses = { queued: 'queued', running: 'running', failed: 'failed' } as const;
      const own = createTransitionOwnership({
        db: file.db,
        tasks: { table, id: 'id', stage: 'status' },
        jobs: { table, ...columns, startedAt: 'started_at', statuses },
      });
      await ok(ensureSchema(own));
      expect(await ok(snapshot(own))).toMatchObject({ impossibleQueued: 1 });
      expect(await ok(sanitizeImpossibleQueued(own))).toMatchObject({ found: 1, sanitized: [{ jobId: 1, runId: 7 }] });
      expect(await ok(claimNextJob(own))).toMatchObject({ jobId: 1 });
    },
  );

  test('of a table in a schema are parted by a dot', async () => {
    await using file = new TestFile<{ 'main.tasks': { id: number; stage: string } }>();
    await file.run('create table tasks (id integer primary key, stage text)', "insert into tasks values (1, 'a')");
    const own = createTransitionOwnership({
      db: file.db,
      tasks: { table: 'main.tasks', id: 'id', stage: 'stage' },
      lease: { schema: 'main' },
    });
    await ok(ensureSchema(own));
    await ok(withTransitionLease(own, { taskId: 1, actor: 'monitor', stage: 'a' }, (held) => held.updateStage('b')));
    expect(await file.read('select stage from tasks')).toEqual([{ stage: 'b' }]);
  });
});

describe('plugins of the caller’s', () => {
  interface Camel {
    tasks: { taskId: number; taskStage: string; updatedAt: string | null };
  }

  /** What the compiler is told of names that no plugin touches. */
  interface CamelTasks {
    readonly table: 'tasks';
    readonly id: 'taskId';
    readonly stage: 'taskStage';
  }

  /** Renames every table of a statement, and every column of an answer. */
  const renaming: KyselyPlugin = {
    transformQuery: ({ node }) => JSON.parse(JSON.stringify(node).replaceAll('task', 'renamed')) as typeof node,
    transformResult: async ({ result }) => ({ ...result, rows: result.rows.map(() => ({ renamed: 1 })) }),
  };

  test.each([
    ['the CamelCasePlugin', new CamelCasePlugin(), 'task'],
    ['a plugin that renames everything', renaming, 'renamed'],
  ])('do not touch the names of the library: %s', async (_, plugin, word) => {
    await using file = new TestFile<Camel>();
    await file.run(
      `create table ${word}s (${word}_id integer primary key, ${word}_stage text, updated_at text)`,
      `insert into ${word}s values (1, 'a', null), (2, 'a', null)`,
    );
    const own = createTransitionOwnership({
      db: file.open(plugin),
      tasks: { table: 'tasks', id: 'task_id', stage: 'task_stage', updatedAt: 'updated_at' } as unknown as CamelTasks,
    });
    expect(await ok(ensureSchema(own))).toBe('created');
    expect(await ok(ensureSchema(own))).toBe('unchanged');
    const requests = [1, 2].map((taskId) => ({ taskId, actor: 'monitor' })) as never;
    const { acquired } = await ok(acquireLeases(own, requests));
    expect(acquired).toHaveLength(2);
    expect((await ok(snapshot(own))).leases).toMatchObject([{ taskId: 1 }, { taskId: 2 }]);
    expect(await ok(inspectLease(own, 1))).toMatchObject({ state: 'held' });
    expect(await ok(reclaimStaleLeases(own))).toMatchObject({ reclaimed: [] });
    const [lease] = acquired;
    await ok(updateStageCas(own, { taskId: 1, expected: 'a', next: 'b', lease }));
    expect(await ok(releaseLeases(own, acquired))).toEqual(['released', 'released']);
    expect(await file.read(`select ${word}_stage as stage from ${word}s`)).toEqual([{ stage: 'b' }, { stage: 'a' }]);
  });

  test('work beside ownedBy in a statement of the caller’s', async () => {
    await using file = new TestFile<Camel>();
    await file.run(
      'create table tasks (task_id integer primary key, task_stage text, updated_at text)',
      "insert into tasks values (1, 'a', null)",
    );
    const db = file.open(new CamelCasePlugin());
    const own = createTransitionOwnership({
      db,
      tasks: { table: 'tasks', id: 'task_id', stage: 'task_stage' } as unknown as CamelTasks,
    });
    await ok(ensureSchema(own));
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const write = () => db.updateTable('tasks').set({ updatedAt: 'x' }).where(ownedBy(own, lease)).executeTakeFirst();
    expect((await write()).numUpdatedRows).toBe(1n);
    await ok(releaseLease(own, lease));
    expect((await write()).numUpdatedRows).toBe(0n);
  });
});

describe('task ids', () => {
  test('of text compare byte by byte: case, trailing spaces and look-alikes are other tasks', async () => {
    const ids = [
      'a',
      'A',
      'a ',
      ' a',
      '\u00e1',
      'a\u0301',
      '7',
      '7.0',
      '007',
      "'; drop table papers; --",
      '\\',
      '%',
      '🚀',
    ];
    await using file = new TestFile<{ papers: { id: string; stage: string } }>();
    await file.run('create table papers (id text primary key, stage text)');
    await file.db
      .insertInto('papers')
      .values(ids.map((id) => ({ id, stage: 'draft' })))
      .execute();
    const own = createTransitionOwnership({
      db: file.db,
      tasks: { table: 'papers', id: 'id', stage: 'stage' },
      lease: { taskIdType: 'text' },
    });
    await ok(ensureSchema(own));
    for (const taskId of ids) {
      const lease = await ok(acquireLease(own, { taskId, actor: 'monitor' }));
      expect(lease.taskId).toBe(taskId);
      await ok(updateStageCas(own, { taskId, expected: 'draft', next: `of ${taskId}`, lease }));
      expect(await ok(inspectLease(own, taskId))).toMatchObject({ holder: { taskId, claim: lease.claim } });
    }
    expect(await file.read('select id, stage from papers')).toEqual(ids.map((id) => ({ id, stage: `of ${id}` })));
    expect(await err(acquireLease(own, { taskId: 'a ', actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    const many = await ok(
      acquireLeases(
        own,
        [...ids, 'new '].map((taskId) => ({ taskId, actor: 'reconciler' })),
      ),
    );
    expect([many.acquired.map(({ taskId }) => taskId), many.busy.map(({ taskId }) => taskId)]).toEqual([[], ids]);
    expect(many.refused).toMatchObject([{ type: 'task-not-found', taskId: 'new ' }]);
  });

  test('beyond 2^53 are exact as bigint, through every verb', async () => {
    const ids = [2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 0n];
    await using file = new TestFile<{ builds: { id: bigint; stage: string; runner: bigint } }>();
    await file.run('create table builds (id integer primary key, stage text, runner integer)');
    for (const id of ids) await file.db.insertInto('builds').values({ id, stage: 'queued', runner: id }).execute();
    const own = createTransitionOwnership({
      db: file.db,
      tasks: { table: 'builds', id: 'id', stage: 'stage' },
      lease: { taskIdType: 'bigint', runIdType: 'bigint' },
    });
    await ok(ensureSchema(own));
    const many = await ok(
      acquireLeases(
        own,
        ids.slice(1).map((taskId) => ({ taskId, actor: 'monitor', runId: taskId })),
      ),
    );
    const one = await ok(acquireLease(own, { taskId: 2n ** 53n, actor: 'monitor', runId: 2n ** 53n + 3n }));
    for (const lease of [one, ...many.acquired]) {
      const seen = await ok(inspectLease(own, lease.taskId));
      expect(seen).toMatchObject({ holder: { taskId: lease.taskId, runId: lease.runId } });
      await ok(updateStageCas(own, { taskId: lease.taskId, expected: 'queued', next: String(lease.taskId), lease }));
    }
    expect(await file.read('select cast(id as text) as id, stage from builds')).toEqual(
      [...ids].sort((a, b) => (a < b ? -1 : 1)).map((id) => ({ id: String(id), stage: String(id) })),
    );
    const [row] = (await ok(snapshot(own))).leases.filter(({ taskId }) => taskId === '9007199254740993');
    expect(row).toMatchObject({ taskId: '9007199254740993', runId: '9007199254740993' });
    expect(await ok(reclaimStaleLeases(own, { taskIds: ids }))).toMatchObject({ reclaimed: [] });
    expect(await ok(releaseLeases(own, [one, ...many.acquired]))).toEqual(Array(5).fill('released'));
  });

  test('of the safe extremes are exact as numbers', async () => {
    await using file = new TestFile<{ tasks: { id: number; stage: string } }>();
    await file.run('create table tasks (id integer primary key, stage text)');
    const ids = [Number.MIN_SAFE_INTEGER, -1, 0, 2 ** 31, Number.MAX_SAFE_INTEGER];
    await file.db
      .insertInto('tasks')
      .values(ids.map((id) => ({ id, stage: 'a' })))
      .execute();
    const own = createTransitionOwnership({ db: file.db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
    await ok(ensureSchema(own));
    for (const taskId of ids) {
      const lease = await ok(acquireLease(own, { taskId, actor: 'monitor', runId: taskId }));
      await ok(updateStageCas(own, { taskId, expected: 'a', next: 'b', lease, release: true }));
    }
    expect(await file.read("select count(*) as n from tasks where stage = 'b'")).toEqual([{ n: 5 }]);
  });
});

describe('two lease tables in one database', () => {
  test('know nothing of each other', async () => {
    await using file = new TestFile<{ tasks: { id: number; stage: string } }>();
    await file.run('create table tasks (id integer primary key, stage text)', "insert into tasks values (1, 'a')");
    const owns = ['a_lease', 'b_lease'].map((table) =>
      createTransitionOwnership({ db: file.db, tasks: { table: 'tasks', id: 'id', stage: 'stage' }, lease: { table } }),
    );
    for (const own of owns) {
      expect(await ok(ensureSchema(own))).toBe('created');
      await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    }
    expect(await file.read('select count(*) as n from a_lease union all select count(*) from b_lease')).toEqual([
      { n: 1 },
      { n: 1 },
    ]);
  });
});
