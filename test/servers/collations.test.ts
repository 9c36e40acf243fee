import { type Kysely, sql } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  type Dialect,
  ensureSchema,
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

    test.each(stageTypes)('a stage in a column %s compares byte by byte, and so does an id', async (stageType) => {
      await withColumn(stageType, async () => {
        const ownership = owning(place);
        const wrongCase = await updateStageCas(ownership, { taskId: 'é', expected: 'DÉPL', next: 'done' });
        expect(wrongCase._unsafeUnwrapErr()).toMatchObject({ type: 'lost-race', actual: 'dépl' });
        const wrongId = await updateStageCas(ownership, { taskId: 'É', expected: 'dépl', next: 'done' });
        expect(wrongId._unsafeUnwrapErr()).toMatchObject({ type: 'task-not-found' });
        const lease = (await acquireLease(ownership, { taskId: 'é', actor: 'monitor' }))._unsafeUnwrap();
        const request = { taskId: 'é', expected: 'dépl', next: 'done', lease, release: true };
        expect((await updateStageCas(ownership, request))._unsafeUnwrap()).toMatchObject({ released: true });
      });
    });

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
