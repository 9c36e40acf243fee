import { type Kysely, sql } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  createTransitionOwnership,
  type Dialect,
  ensureSchema,
  inspectLease,
  releaseLeases,
  updateStageCas,
} from 'transition-ownership';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

interface Tables {
  odd: { id: string; stage: string | null };
}

/** What an equals sign says. */
const plainly: Record<string, Pick<Dialect, 'sameText' | 'sameId'>> = {
  [postgresServer.name]: {
    sameText: (a, b) => sql<boolean>`${a} is not distinct from ${b}`,
    sameId: (_type, a, b) => sql<boolean>`${a} = ${b}`,
  },
  [mysqlServer.name]: {
    sameText: (a, b) => sql<boolean>`${a} <=> ${b}`,
    sameId: (_type, a, b) => sql<boolean>`${a} = ${b}`,
  },
};

/** Two spellings of one id, and one of none. */
const SPELLINGS = ['É', 'é', 'ß'].map((taskId) => ({ taskId, actor: 'reaper' }));

function collations(
  server: TestServer,
  idType: string,
  stageTypes: readonly string[],
  prepare: readonly string[],
): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('collations');
      for (const text of prepare) await sql.raw(text).execute(place.db);
      (await ensureSchema(owning(place)))._unsafeUnwrap();
    });
    afterAll(() => place.drop());

    const owning = ({ db }: Place, dialect: Dialect = server.dialect) =>
      createTransitionOwnership({
        db: db as unknown as Kysely<Tables>,
        dialect,
        tasks: { table: 'odd', id: 'id', stage: 'stage' },
        lease: { table: 'odd_lease', taskIdType: 'text' },
      });
    const withColumn = async (stageType: string, use: () => Promise<void>): Promise<void> => {
      await sql.raw(`create table odd (id ${idType} not null primary key, stage ${stageType})`).execute(place.db);
      await sql`insert into odd (id, stage) values ('é', 'dépl')`.execute(place.db);
      await use().finally(() => sql`drop table odd`.execute(place.db));
    };

    test.each(stageTypes)(
      'a stage in a column %s compares byte by byte, and an id as its column does',
      async (stageType) => {
        await withColumn(stageType, async () => {
          const ownership = owning(place);
          const wrongCase = await updateStageCas(ownership, { taskId: 'é', expected: 'DÉPL', next: 'done' });
          expect(wrongCase._unsafeUnwrapErr()).toMatchObject({ type: 'lost-race', actual: 'dépl' });
          const lease = (await acquireLease(ownership, { taskId: 'É', actor: 'monitor' }))._unsafeUnwrap();
          expect(lease.taskId).toBe('é');
          const [many] = [(await acquireLeases(ownership, SPELLINGS))._unsafeUnwrap()];
          expect([many.acquired, many.busy.length, many.refused.length]).toEqual([[], 2, 1]);
          const order = { expected: 'dépl', next: 'done' };
          for (const taskId of ['é', 'É']) {
            const holder = { claim: lease.claim };
            expect(await updateStageCas(ownership, { ...order, taskId })).toMatchObject({
              error: { type: 'lease-busy' },
            });
            expect((await inspectLease(ownership, taskId))._unsafeUnwrap()).toMatchObject({ holder });
          }
          const written = await updateStageCas(ownership, { ...order, taskId: 'É', lease, release: true });
          expect(written._unsafeUnwrap()).toMatchObject({ released: true });
          const again = (await acquireLeases(ownership, SPELLINGS))._unsafeUnwrap();
          expect(again.acquired.map(({ taskId }) => taskId)).toEqual(['é']);
          expect(again.busy).toMatchObject([{ holder: { taskId: 'é' } }]);
          expect(again.refused).toMatchObject([{ type: 'task-not-found', taskId: 'ß' }]);
          (await releaseLeases(ownership, again.acquired))._unsafeUnwrap();
        });
      },
    );

    test('by an equals sign alone, another spelling would win', async () => {
      const [stageType = ''] = stageTypes;
      await withColumn(stageType, async () => {
        const ownership = owning(place, { ...server.dialect, ...plainly[server.name] });
        const request = { taskId: 'É', expected: 'DÉPL', next: 'done', evenIfHeld: true };
        expect((await updateStageCas(ownership, request)).isOk()).toBe(true);
      });
    });
  });
}

collations(
  postgresServer,
  'text collate caseless',
  ['text collate caseless', 'text', 'varchar(20)', 'stages'],
  [
    "create collation caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    "create type stages as enum ('dépl', 'DÉPL', 'done')",
  ],
);
collations(
  mysqlServer,
  'varchar(40)',
  [
    'varchar(20) character set latin1 collate latin1_swedish_ci',
    'varchar(20) character set utf8mb4 collate utf8mb4_general_ci',
    "enum('dépl', 'done') character set utf8mb4",
    'varchar(20) character set utf8mb4 collate utf8mb4_bin',
  ],
  [],
);
