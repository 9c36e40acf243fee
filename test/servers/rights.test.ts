import { sql } from 'kysely';
import { acquireLease, ensureSchema, releaseLease } from 'transition-ownership';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ownName } from '../contract/store.js';
import { dropOwn, makeFirstShape, schemaOf, upgradedTasks, type Where } from './own-schema.js';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

/** How a server tells who may do what. `user` may change rows, and nothing else, of any table that is or comes. */
interface Rights {
  readonly server: TestServer;
  readonly user: string;
  readonly make: (user: string, schema: string) => readonly string[];
  readonly remove: (user: string) => readonly string[];
  /** Rights with which an upgrade gets to the step that puts the new table in the place of the old one. */
  readonly half: (user: string, schema: string) => string;
  /** Takes the rights on rows away, and lets the user create tables. */
  readonly blind: (user: string, schema: string) => readonly string[];
  readonly denied: RegExp;
}

const servers: readonly Rights[] = [
  {
    server: postgresServer,
    user: ownName('limited'),
    make: (user, schema) => [
      `create role ${user}`,
      `grant usage on schema ${schema} to ${user}`,
      `alter default privileges in schema ${schema} grant select, insert, update, delete on tables to ${user}`,
      `grant select, insert, update, delete on all tables in schema ${schema} to ${user}`,
    ],
    remove: (user) => [`drop owned by ${user}`, `drop role ${user}`],
    half: (user, schema) => `grant create on schema ${schema} to ${user}`,
    blind: (user, schema) => [
      `grant create on schema ${schema} to ${user}`,
      `revoke all on all tables in schema ${schema} from ${user}`,
    ],
    denied: /^The store failed \(schema, nothing was applied\): permission denied for schema \w+\.$/,
  },
  {
    server: mysqlServer,
    user: ownName('limited'),
    make: (user, schema) => [
      `create user ${user}@'%'`,
      `grant select, insert, update, delete on ${schema}.* to ${user}@'%'`,
    ],
    remove: (user) => [`drop user ${user}@'%'`],
    half: (user, schema) => `grant create, drop on ${schema}.* to ${user}@'%'`,
    blind: (user, schema) => [
      `revoke select, insert, update, delete on ${schema}.* from ${user}@'%'`,
      `grant create on ${schema}.* to ${user}@'%'`,
    ],
    denied:
      /^The store failed \(schema, nothing was applied\): (CREATE|DROP) command denied to user .* for table .*\.$/,
  },
];

describe.each(servers)('ensureSchema on $server.name', ({ server, user, make, remove, half, blind, denied }) => {
  describe.skipIf(server.missing !== undefined)('of somebody who may only change rows', () => {
    let place: Place;
    let where: Where;
    const run = async (texts: readonly string[]) => {
      for (const text of texts) await sql.raw(text).execute(place.db);
    };
    const everything = () => schemaOf(place.db, where, place.address.server);
    const owner = () => ensureSchema(place.process().ownership);

    beforeAll(async () => {
      place = await server.make('rights');
      where = { schema: place.address.schema, table: 'transition_lease' };
    });
    beforeEach(() => run(make(user, where.schema)));
    afterEach(() => run(remove(user)));
    afterAll(() => place.drop());

    test('finds a table that is there unchanged, tries no change, and the verbs work', async () => {
      (await owner())._unsafeUnwrap();
      const { ownership, told } = place.process({ as: user });
      expect((await ensureSchema(ownership))._unsafeUnwrap()).toBe('unchanged');
      expect(told('store.failed')).toEqual([]);
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      expect((await releaseLease(ownership, lease))._unsafeUnwrap()).toBe('released');
    });

    test('says in a sentence what it may not do where no table is, and is in nobody’s way afterwards', async () => {
      await dropOwn(place.db, where);
      const { ownership } = place.process({ as: user });
      const failure = (await ensureSchema(ownership))._unsafeUnwrapErr();
      expect(failure).toMatchObject({
        type: 'store-failure',
        kind: 'schema',
        retryable: false,
        outcome: 'not-applied',
      });
      expect(failure.message).toMatch(denied);
      expect(await everything()).toEqual({});
      expect((await owner())._unsafeUnwrap()).toBe('created');
      expect((await ensureSchema(ownership))._unsafeUnwrap()).toBe('unchanged');
    });

    test('who has no rights on a table that is there hears so, and not that it was created', async () => {
      (await owner())._unsafeUnwrap();
      await run(blind(user, where.schema));
      const failure = (await ensureSchema(place.process({ as: user }).ownership))._unsafeUnwrapErr();
      expect(failure).toMatchObject({ kind: 'schema', retryable: false, outcome: 'not-applied' });
      expect(failure.message).toBe(
        'The store failed (schema, nothing was applied): ' +
          'the table "transition_lease" is there, and this user of the database may not look at it.',
      );
    });

    const leaves = server === mysqlServer;
    test.runIf(leaves)('is content with complete tables where it may not drop what a killed upgrade left', async () => {
      (await owner())._unsafeUnwrap();
      await makeFirstShape(place.db, { ...where, table: 'transition_lease_retired' });
      const { ownership } = place.process({ as: user });
      expect((await ensureSchema(ownership))._unsafeUnwrap()).toBe('unchanged');
      expect(Object.keys(await everything())).toEqual(['transition_lease', 'transition_lease_retired']);
      expect((await owner())._unsafeUnwrap()).toBe('upgraded');
      expect(Object.keys(await everything())).toEqual(['transition_lease']);
    });

    test('leaves a table of the first shape as it is, with its rows', async () => {
      await dropOwn(place.db, where);
      await makeFirstShape(place.db, where);
      const before = await everything();
      const { ownership } = place.process({ as: user });
      const failure = (await ensureSchema(ownership))._unsafeUnwrapErr();
      expect(failure).toMatchObject({ kind: 'schema', retryable: false, outcome: 'not-applied' });
      expect(failure.message).toMatch(denied);
      expect(await everything()).toEqual(before);
      expect((await owner())._unsafeUnwrap()).toBe('upgraded');
      expect(await upgradedTasks(place.db, where)).toEqual([7, 8]);
    });

    test('who may do half of an upgrade keeps the old table in its place, and who may do all finishes it', async () => {
      await dropOwn(place.db, where);
      await makeFirstShape(place.db, where);
      const { transition_lease: before } = (await everything()) as Record<string, unknown>;
      await run([half(user, where.schema)]);
      const failure = (await ensureSchema(place.process({ as: user }).ownership))._unsafeUnwrapErr();
      expect(failure).toMatchObject({ kind: 'schema', retryable: false, outcome: 'not-applied' });
      expect(await everything()).toMatchObject({ transition_lease: before });
      const { rows } = await sql`select task_id from transition_lease`.execute(place.db);
      expect(rows).toHaveLength(2);
      expect((await owner())._unsafeUnwrap()).toBe('upgraded');
      expect(await upgradedTasks(place.db, where)).toEqual([7, 8]);
      expect(Object.keys(await everything())).toEqual(['transition_lease']);
    });
  });
});
