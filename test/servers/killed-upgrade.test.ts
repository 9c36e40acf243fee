import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OnServerCommands, OnServerSetup } from '../process/child/on-server.js';
import { Child } from '../process/children.js';
import { dropOwn, makeFirstShape, schemaOf, upgradedTasks, type Where } from './own-schema.js';
import { mysqlServer, type Place, postgresServer } from './server.js';

const start = (setup: OnServerSetup): Child<OnServerCommands> => new Child('on-server', setup);

const found = [
  { change: 'created', what: 'an empty database', tasks: [] },
  { change: 'upgraded', what: 'a lease table of the first shape', tasks: [7, 8] },
] as const;

/** Statements that must be among those it died at. */
const deaths = {
  PostgreSQL: {
    created: [/^begin/, /pg_advisory_xact_lock/, /^create table/, /^commit/],
    upgraded: [/^create table/, /^insert into/, /^drop table "/, /^alter table/, /^commit/],
  },
  MySQL: {
    created: [/^begin/, /get_lock/, /^create table/, /release_lock/, /^commit/],
    upgraded: [/^drop table if exists/, /^create table/, /^insert into/, /^rename table/, /^drop table `/, /^commit/],
  },
} as const;

describe.each([postgresServer, mysqlServer])('ensureSchema on $name', (server) => {
  describe.skipIf(server.missing !== undefined)('killed at every statement', () => {
    let place: Place;
    let where: Where;
    beforeAll(async () => {
      place = await server.make('killed_upgrade');
      where = { schema: place.address.schema, table: 'transition_lease' };
    });
    afterAll(() => place.drop());

    const tasksNow = async () =>
      (await sql<{ task_id: unknown }>`select task_id from transition_lease order by 1`.execute(place.db)).rows.map(
        ({ task_id }) => Number(task_id),
      );

    // After a statement, its answer not used: what the database has seen then is all that it has seen before the next.
    test.each(found)('on $what: another finishes it, with every row, as if nothing had been', async (shape) => {
      const setup = { address: place.address, effects: {} };
      const prepare = async () => {
        await dropOwn(place.db, where);
        if (shape.tasks.length > 0) await makeFirstShape(place.db, where);
      };
      const isDone = async () => {
        expect(await upgradedTasks(place.db, where)).toEqual(shape.tasks);
        return schemaOf(place.db, where, place.address.server);
      };
      const rescuer = start(setup);
      await prepare();
      expect(await rescuer.call('schema')).toEqual({ ok: shape.change });
      const made = await isDone();
      const died: string[] = [];
      for (;;) {
        await prepare();
        const victim = start({ ...setup, killAt: { statement: died.length + 1, when: 'after' } });
        const survived = await victim.call('schema').then(
          () => true,
          () => false,
        );
        if (survived) {
          expect(await victim.call('statements')).toBe(died.length);
          break;
        }
        expect(await victim.ended).toEqual({ code: null, signal: 'SIGKILL' });
        died.push(String((await victim.said('dying'))['sql']));
        if (shape.tasks.length > 0) expect(await tasksNow()).toEqual(shape.tasks);
        expect(await rescuer.call('schema'), died.at(-1)).toHaveProperty('ok');
        expect(await isDone(), died.at(-1)).toEqual(made);
      }
      for (const statement of deaths[server.name as keyof typeof deaths][shape.change]) {
        expect(died).toContainEqual(expect.stringMatching(statement));
      }
    });
  });
});
