import { type Kysely, sql } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  createJobReaper,
  createTransitionOwnership,
  ensureSchema,
  inspectLease,
  reclaimStaleLeases,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

interface Tables {
  odd: { id: string; stage: string };
  odd_jobs: {
    id: string;
    task_id: string;
    status: string;
    run_id: string | null;
    pid: number | null;
    started_at: Date | null;
  };
}

/** A type of column, an id as its row spells it, other spellings of it, and ids that no row can have. */
interface Spelled {
  readonly type: string;
  readonly id: string;
  readonly others: readonly string[];
  readonly none: readonly string[];
}

const UUID = '6ccd780c-baba-1026-9564-5b8c656024db';

function spellings(server: TestServer, prepare: readonly string[], types: readonly Spelled[]): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('spellings');
      for (const text of prepare) await sql.raw(text).execute(place.db);
    });
    afterAll(() => place.drop());

    const setUp = async ({ type, id }: Spelled) => {
      for (const table of ['odd', 'odd_jobs', 'odd_lease', 'odd_effect'])
        await sql`drop table if exists ${sql.id(table)}`.execute(place.db);
      await sql.raw(`create table odd (id ${type} not null primary key, stage varchar(40))`).execute(place.db);
      await sql`insert into odd (id, stage) values (${id}, 'deploy')`.execute(place.db);
      const start = () =>
        createTransitionOwnership({
          db: place.connect() as unknown as Kysely<Tables>,
          dialect: server.dialect,
          tasks: { table: 'odd', id: 'id', stage: 'stage' },
          lease: { table: 'odd_lease', taskIdType: 'text' },
          effects: { table: 'odd_effect' },
        });
      const [own, other] = [start(), start()];
      (await ensureSchema(own))._unsafeUnwrap();
      return [own, other] as const;
    };

    test.each(types)('$type: one task has one lease and one effect, however its id is spelled', async (spelled) => {
      const [own, other] = await setUp(spelled);
      let deployed = 0;
      const deploy = (ownership: typeof own, taskId: string) =>
        withTransitionLease(ownership, { taskId, actor: 'a' }, async (held) => {
          expect(held.taskId).toBe(spelled.id);
          for (const another of spelled.others) {
            const busy = (await acquireLease(other, { taskId: another, actor: 'b' }))._unsafeUnwrapErr();
            expect(busy).toMatchObject({ type: 'lease-busy', holder: { claim: held.claim } });
            const seen = (await inspectLease(other, another))._unsafeUnwrap();
            expect(seen).toMatchObject({ holder: { claim: held.claim } });
            const move = { taskId: another, expected: 'deploy', next: 'done' };
            expect((await updateStageCas(other, move))._unsafeUnwrapErr().type).toBe('lease-busy');
          }
          return held.runEffect({ effect: 'deploy', key: 'c0ffee', apply: () => void (deployed += 1) });
        });
      for (const taskId of [spelled.id, ...spelled.others]) (await deploy(own, taskId))._unsafeUnwrap();
      expect(deployed).toBe(1);
      const ids = [...spelled.others, spelled.id];
      const many = (
        await acquireLeases(
          own,
          ids.map((taskId) => ({ taskId, actor: 'c' })),
        )
      )._unsafeUnwrap();
      expect([many.acquired.map(({ taskId }) => taskId), many.busy.length]).toEqual([[spelled.id], ids.length - 1]);
      const { kept } = (await reclaimStaleLeases(other, { taskIds: ids }))._unsafeUnwrap();
      expect(kept.map(({ taskId }) => taskId)).toEqual([spelled.id]);
    });

    test.each(types)('$type: an id that no row can have is not found, and a transaction goes on', async (spelled) => {
      const [own] = await setUp(spelled);
      const ask = async (ownership: typeof own): Promise<void> => {
        for (const taskId of spelled.none) {
          const failure = (await acquireLease(ownership, { taskId, actor: 'a' }))._unsafeUnwrapErr();
          expect(failure.type).toBe('task-not-found');
          const { refused } = (await acquireLeases(ownership, [{ taskId, actor: 'a' }]))._unsafeUnwrap();
          expect(refused.map(({ type }) => type)).toEqual(['task-not-found']);
          const move = { taskId, expected: 'deploy', next: 'done' };
          expect((await updateStageCas(ownership, move))._unsafeUnwrapErr().type).toBe('task-not-found');
          expect((await inspectLease(ownership, taskId))._unsafeUnwrap()).toEqual({ state: 'free' });
        }
      };
      await ask(own);
      await place.db.transaction().execute(async (trx) => {
        await ask(own.using(trx));
        await sql`update odd set stage = 'done'`.execute(trx);
      });
      expect((await sql<{ stage: string }>`select stage from odd`.execute(place.db)).rows).toEqual([{ stage: 'done' }]);
    });

    test.each(types)('$type: the reaper goes from a job to the lease of its task', async (spelled) => {
      const [other = ''] = spelled.others;
      const [own] = await setUp(spelled);
      const db = place.connect() as unknown as Kysely<Tables>;
      await sql
        .raw(`create table odd_jobs (id varchar(9) primary key, task_id ${spelled.type}, status varchar(9),
          run_id varchar(9), pid integer, started_at ${server === postgresServer ? 'timestamptz' : 'datetime(3)'})`)
        .execute(place.db);
      const job = { id: 'j', task_id: other, status: 'running', run_id: 'r', pid: 999_999, started_at: new Date() };
      await db.insertInto('odd_jobs').values(job).execute();
      (await acquireLease(own, { taskId: spelled.id, actor: 'finalizer' }))._unsafeUnwrap();
      const sweeping = createTransitionOwnership({
        db,
        dialect: server.dialect,
        tasks: { table: 'odd', id: 'id', stage: 'stage' },
        lease: { table: 'odd_lease', taskIdType: 'text', runIdType: 'text' },
        jobs: {
          table: 'odd_jobs',
          id: 'id',
          taskId: 'task_id',
          status: 'status',
          runId: 'run_id',
          pid: 'pid',
          startedAt: 'started_at',
          statuses: { queued: 'queued', running: 'running', failed: 'failed' },
          singleHost: true,
          idType: 'text',
        },
      });
      const options = { deadTicks: 1, finalizeGraceMs: 0, maxRunningMs: 7_200_000, onDead: 'requeue' } as const;
      const reaper = createJobReaper(sweeping, options);
      expect((await reaper.tick())._unsafeUnwrap()).toMatchObject({ deferred: 1, reaped: 0 });
    });
  });
}

spellings(
  postgresServer,
  ['create extension if not exists citext'],
  [
    { type: 'uuid', id: UUID, others: [UUID.toUpperCase(), UUID.replaceAll('-', '')], none: ['repo-1', `${UUID}0`] },
    { type: 'citext', id: 'Repo-1', others: ['repo-1', 'REPO-1'], none: ['repo-2'] },
    { type: 'char(9)', id: 'repo-1', others: ['repo-1  '], none: ['Repo-1'] },
  ],
);
spellings(
  mysqlServer,
  [],
  [
    { type: 'uuid', id: UUID, others: [UUID.toUpperCase()], none: ['repo-1'] },
    { type: 'varchar(40) collate utf8mb4_general_ci', id: 'Repo-1', others: ['repo-1', 'REPO-1 '], none: ['repo-2'] },
    { type: 'char(9) character set latin1', id: 'repo-1', others: ['Repo-1'], none: ['repo-12', '7'] },
  ],
);
