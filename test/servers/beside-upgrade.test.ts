import { sql } from 'kysely';
import { ensureSchema } from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dropOwn, makeFirstShape, schemaOf, upgradedTasks, type Where } from './own-schema.js';
import { mysqlServer, type Place, postgresServer } from './server.js';

const REPLACEMENT = 'transition_lease_replacement';
const RETIRED = 'transition_lease_retired';

const servers = [
  { server: postgresServer, commits: false },
  { server: mysqlServer, commits: true },
] as const;

describe.each(servers)('ensureSchema on $server.name', ({ server, commits }) => {
  describe.skipIf(server.missing !== undefined)('beside other tables', () => {
    let place: Place;
    let where: Where;
    const ensured = () => ensureSchema(place.process().ownership);
    const tables = async () => Object.keys(await schemaOf(place.db, where, place.address.server));
    const tasksOf = async (table: string) => {
      const { rows } = await sql<{ task_id: unknown }>`select task_id from ${sql.id(table)} order by 1`.execute(
        place.db,
      );
      return rows.map(({ task_id }) => Number(task_id));
    };
    const beside = (table: string) => makeFirstShape(place.db, { ...where, table });

    beforeAll(async () => {
      place = await server.make('beside_upgrade');
      where = { schema: place.address.schema, table: 'transition_lease' };
    });
    beforeEach(() => dropOwn(place.db, where));
    afterAll(() => place.drop());

    test('does not begin an upgrade where a table of somebody’s is in its way, which keeps its rows', async () => {
      await makeFirstShape(place.db, where);
      await sql`create table ${sql.id(REPLACEMENT)} (task_id integer)`.execute(place.db);
      await sql`insert into ${sql.id(REPLACEMENT)} values (3)`.execute(place.db);
      const failure = (await ensured())._unsafeUnwrapErr();
      expect(failure).toMatchObject({ kind: 'schema', retryable: false, outcome: 'not-applied' });
      expect(failure.message).toContain(`the table "${REPLACEMENT}" is in the way of an upgrade`);
      expect(await tasksOf(REPLACEMENT)).toEqual([3]);
      expect(await tasksOf('transition_lease')).toEqual([7, 8]);
    });

    test.skipIf(commits)('takes nothing for its own that a transaction would have taken back', async () => {
      await makeFirstShape(place.db, where);
      await beside(RETIRED);
      expect((await ensured())._unsafeUnwrap()).toBe('upgraded');
      expect((await ensured())._unsafeUnwrap()).toBe('unchanged');
      expect(await tasksOf(RETIRED)).toEqual([7, 8]);
      await dropOwn(place.db, where);
      await makeFirstShape(place.db, where);
      await beside(REPLACEMENT);
      expect((await ensured())._unsafeUnwrapErr().message).toContain('is in the way of an upgrade');
      expect(await tasksOf(REPLACEMENT)).toEqual([7, 8]);
    });

    test.runIf(commits)('begins again, and finishes, what a crash broke off between two commits', async () => {
      await makeFirstShape(place.db, where);
      await Promise.all([beside(REPLACEMENT), beside(RETIRED)]);
      expect((await ensured())._unsafeUnwrap()).toBe('upgraded');
      expect(await upgradedTasks(place.db, where)).toEqual([7, 8]);
      expect(await tables()).toEqual(['transition_lease']);
      const before = await sql`select claim from transition_lease`.execute(place.db);
      await beside(RETIRED);
      expect((await ensured())._unsafeUnwrap()).toBe('upgraded');
      expect(await tables()).toEqual(['transition_lease']);
      expect((await sql`select claim from transition_lease`.execute(place.db)).rows).toEqual(before.rows);
      expect((await ensured())._unsafeUnwrap()).toBe('unchanged');
    });

    test.runIf(commits)('does not drop a table of the present shape, whatever its name', async () => {
      (await ensured())._unsafeUnwrap();
      await sql`rename table transition_lease to ${sql.id(RETIRED)}`.execute(place.db);
      await makeFirstShape(place.db, where);
      expect((await ensured())._unsafeUnwrapErr().message).toContain(`the table "${RETIRED}" is in the way`);
      expect(await tables()).toEqual(['transition_lease', RETIRED]);
    });
  });
});
