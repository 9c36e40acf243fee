import {
  CamelCasePlugin,
  DeduplicateJoinsPlugin,
  type Kysely,
  type KyselyPlugin,
  OperationNodeTransformer,
  ParseJSONResultsPlugin,
  sql,
} from 'kysely';
import {
  acquireLease,
  checkDialect,
  claimNextJob,
  clearedRunOwnership,
  createJobReaper,
  createTransitionOwnership,
  ensureSchema,
  findImpossibleQueued,
  ownedBy,
  releaseLease,
  resetRunOwnership,
  sanitizeImpossibleQueued,
  stampRunOwnership,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { err, ok } from '../rig/proofs.js';
import { databases } from '../sql/compiled.js';
import { places, type TwoSchemas } from './places.js';

/** The caller's tables as its Kysely knows them. */
interface Camel {
  fileTasks: { id: number; status: string | null; updatedAt: string | null; movedBy: string | null };
  fileJobs: {
    id: number;
    taskId: number | null;
    jobStatus: string;
    runId: number | null;
    ownerPid: number | null;
    startedAt: number | null;
    triesLeft: number;
    jobPayload: unknown;
  };
}

const tasks = { table: 'fileTasks', id: 'id', stage: 'status', updatedAt: 'updatedAt' } as const;
const jobs = {
  table: 'fileJobs',
  id: 'id',
  taskId: 'taskId',
  status: 'jobStatus',
  runId: 'runId',
  pid: 'ownerPid',
  startedAt: 'startedAt',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
} as const;

const backwards = (name: string): string => name.split('').reverse().join('');

/** A plugin of a caller's own: names of its types are written backwards in the database. */
class Backwards extends OperationNodeTransformer implements KyselyPlugin {
  transformQuery({ node, queryId }: Parameters<KyselyPlugin['transformQuery']>[0]) {
    return this.transformNode(node, queryId);
  }
  transformResult({ result }: Parameters<KyselyPlugin['transformResult']>[0]) {
    const rows = result.rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [backwards(name), value])),
    );
    return Promise.resolve({ ...result, rows });
  }
  protected override transformIdentifier({
    kind,
    name,
  }: Parameters<OperationNodeTransformer['transformIdentifier']>[0]) {
    return { kind, name: backwards(name) };
  }
}

/** How names are spelled by one plugin, and in the database. */
const SPELLINGS = [
  [
    'CamelCasePlugin',
    new CamelCasePlugin(),
    (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  ],
  ['a renaming plugin of one’s own', new Backwards(), backwards],
] as const;

describe.each(places)('$name', (kind) => {
  const { missing } = kind;
  describe.each(SPELLINGS)('under %s', (_, plugin, spelled) => {
    let place: TwoSchemas;
    let db: Kysely<Camel>;
    const s = (name: string) => sql.id(spelled(name));

    beforeEach(async () => {
      if (missing !== undefined) return;
      place = await kind.make();
      db = (place.db as unknown as Kysely<Camel>)
        .withPlugin(plugin)
        .withPlugin(new ParseJSONResultsPlugin())
        .withPlugin(new DeduplicateJoinsPlugin());
      await sql`create table ${s('fileTasks')} (${s('id')} integer primary key, ${s('status')} varchar(40),
        ${s('updatedAt')} varchar(40), ${s('movedBy')} varchar(40))`.execute(place.db);
      await sql`create table ${s('fileJobs')} (${s('id')} integer primary key, ${s('taskId')} integer,
        ${s('jobStatus')} varchar(40) not null, ${s('runId')} integer, ${s('ownerPid')} integer, ${s('startedAt')} bigint,
        ${s('triesLeft')} integer not null, ${s('jobPayload')} varchar(200))`.execute(place.db);
      await db.insertInto('fileTasks').values({ id: 1, status: 'a' }).execute();
      const queued = { jobStatus: 'queued', triesLeft: 3, jobPayload: '{"refName":["main"]}' };
      await db
        .insertInto('fileJobs')
        .values([
          { ...queued, id: 1, taskId: 1 },
          { ...queued, id: 2, triesLeft: 0 },
        ] as never)
        .execute();
    });
    afterEach(async () => {
      if (missing === undefined) await place.drop();
    });
    const check = test.skipIf(missing !== undefined);

    const own = () => createTransitionOwnership({ db, tasks, jobs, effects: {}, timeFormat: 'epoch-ms' });

    check('input 3: every verb on tasks works, and sets the caller’s columns by their names', async () => {
      const ownership = own();
      await ok(ensureSchema(ownership));
      expect((await ok(checkDialect(ownership))).findings.filter(({ severity }) => severity === 'error')).toEqual([]);
      const lease = await ok(acquireLease(ownership, { taskId: 1, actor: 'worker', stage: 'a' }));
      const set = { movedBy: 'worker' };
      expect(
        await ok(updateStageCas(ownership, { taskId: 1, expected: 'a', next: 'b', lease, set, release: true })),
      ).toMatchObject({ to: 'b' });
      expect(await err(updateStageCas(ownership, { taskId: 1, expected: 'a', next: 'c' }))).toMatchObject({
        type: 'lost-race',
        actual: 'b',
      });
      expect(await err(updateStageCas(ownership, { taskId: 9, expected: 'a', next: 'c' }))).toMatchObject({
        type: 'task-not-found',
      });
      const stamped = { updatedAt: 'now' };
      expect(await ok(updateStageCas(ownership, { taskId: 1, expected: 'b', next: 'c', set: stamped }))).toMatchObject({
        to: 'c',
      });
      expect(await db.selectFrom('fileTasks').selectAll().executeTakeFirst()).toMatchObject({
        status: 'c',
        movedBy: 'worker',
        updatedAt: 'now',
      });
      const moved = withTransitionLease(ownership, { taskId: 1, actor: 'worker', stage: 'c' }, (held) =>
        held.updateStage('d'),
      );
      expect(await ok(moved)).toMatchObject({ from: 'c', to: 'd' });
    });

    check('ownedBy is out of a plugin’s reach, whatever the name of the lease table', async () => {
      const ownership = createTransitionOwnership({ db, tasks, lease: { table: 'TransitionLease' } });
      await ok(ensureSchema(ownership));
      const lease = await ok(acquireLease(ownership, { taskId: 1, actor: 'worker' }));
      const write = () =>
        db
          .updateTable('fileTasks')
          .set({ movedBy: 'me' })
          .where('id', '=', 1)
          .where(ownedBy(ownership, lease))
          .executeTakeFirst();
      expect(await write()).toMatchObject({ numUpdatedRows: 1n });
      await ok(releaseLease(ownership, lease));
      expect(await write()).toMatchObject({ numUpdatedRows: 0n });
    });

    check('a job is claimed by the caller’s names, and its row is as the caller’s own Kysely gives it', async () => {
      const ownership = own();
      await ok(ensureSchema(ownership));
      const job = await ok(
        claimNextJob(ownership, {
          where: (eb) =>
            eb.and([
              eb('fileJobs.triesLeft', '>', 0),
              eb.exists(
                eb.selectFrom('fileTasks').whereRef('fileTasks.id', '=', 'fileJobs.taskId').select('fileTasks.id'),
              ),
            ]),
          orderBy: { column: 'triesLeft', direction: 'desc' },
          set: { triesLeft: (eb) => eb('triesLeft', '-', 1) },
        }),
      );
      if (job === null) throw new Error('there is a job');
      const row = await db.selectFrom('fileJobs').selectAll().where('id', '=', 1).executeTakeFirstOrThrow();
      expect(row).toMatchObject({ jobStatus: 'running', triesLeft: 2, jobPayload: { refName: ['main'] } });
      expect(job.row).toEqual(row);
      expect(Object.isFrozen(job.row)).toBe(true);
      expect(job.startedAt).toEqual(row.startedAt);
      expect(await ok(stampRunOwnership(ownership, { job, runId: 7, pid: process.pid }))).toBe('stamped');
      const second = await ok(claimNextJob(ownership, { where: { triesLeft: 0, runId: null }, set: { triesLeft: 9 } }));
      expect(second).toMatchObject({ jobId: 2, row: { triesLeft: 9 } });
      const expected = { runId: 7, pid: process.pid };
      expect(await ok(resetRunOwnership(ownership, { jobId: 1, expected, set: { triesLeft: 5 } }))).toMatchObject({
        reset: [1],
      });
      expect(
        await db.selectFrom('fileJobs').select(['triesLeft', 'runId']).where('id', '=', 1).executeTakeFirst(),
      ).toEqual({ triesLeft: 5, runId: null });
    });

    check('a reaper shows and clears a job by the caller’s names', async () => {
      const ownership = own();
      await ok(ensureSchema(ownership));
      const cleared = clearedRunOwnership(ownership);
      expect(cleared).toEqual({ jobStatus: 'queued', runId: null, ownerPid: null, startedAt: null });
      await db
        .updateTable('fileJobs')
        .set({ ...cleared, ownerPid: 7 })
        .where('id', '=', 2)
        .execute();
      expect(await ok(findImpossibleQueued(ownership))).toMatchObject([{ jobId: 2, pid: 7 }]);
      expect(await ok(sanitizeImpossibleQueued(ownership))).toMatchObject({ sanitized: [{ jobId: 2 }] });
      await db
        .updateTable('fileJobs')
        .set({ jobStatus: 'running', startedAt: 1, ownerPid: 7 })
        .where('id', '=', 1)
        .execute();
      const shown: unknown[] = [];
      const reaper = createJobReaper(ownership, {
        finalizeGraceMs: 0,
        maxRunningMs: 4 * 3_600_000,
        onDead: ({ row }) => {
          shown.push(row);
          return { status: 'failed', set: { triesLeft: 0, jobPayload: 'spent' } };
        },
      });
      expect(await ok(reaper.tick())).toMatchObject({ reaped: 1, forced: 1 });
      expect(shown).toMatchObject([{ id: 1, jobStatus: 'running', ownerPid: 7, jobPayload: { refName: ['main'] } }]);
      expect(await db.selectFrom('fileJobs').selectAll().where('id', '=', 1).executeTakeFirst()).toMatchObject({
        jobStatus: 'failed',
        triesLeft: 0,
        jobPayload: 'spent',
      });
    });

    check('a transaction of the caller’s carries the same plugins', async () => {
      const ownership = own();
      await ok(ensureSchema(ownership));
      const foreign = place.db as never;
      expect(() => ownership.using(foreign)).toThrow(TypeError);
      expect(() => ownership.using(foreign)).toThrow(
        `got "fileTasks" where the ownership has "${spelled('fileTasks')}"`,
      );
      await db.transaction().execute(async (trx) => {
        await ok(updateStageCas(ownership.using(trx), { taskId: 1, expected: 'a', next: 'b' }));
        expect(await trx.selectFrom('fileTasks').select('status').executeTakeFirst()).toEqual({ status: 'b' });
      });
    });
  });
});

test('what the library writes is refused under the spelling of the database too', () => {
  const [, db] = databases[0] ?? [];
  if (db === undefined) throw new Error('there is a database');
  const handle = (db as unknown as Kysely<Camel>).withPlugin(new CamelCasePlugin());
  const ownership = createTransitionOwnership({ db: handle, tasks, jobs });
  const sentence = 'set must not have the column "run_id": it is written by the library';
  expect(() => claimNextJob(ownership, { set: { run_id: 7 } as never })).toThrow(sentence);
  const move = { taskId: 1, expected: 'a', next: 'b', set: { ID: 7 } as never };
  expect(() => updateStageCas(ownership, move)).toThrow('set must not have the column "ID"');
});
