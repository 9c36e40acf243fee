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

/** An upgrade without what keeps a table in its place at every moment: a transaction, or a rename that is one step. */
const careless = {
  PostgreSQL: {
    mutants: [['begin', 'select 1']],
    killedAt: '^drop table "transition_lease"$',
  },
  MySQL: {
    mutants: [
      [
        'rename table `transition_lease` to `transition_lease_retired`, `transition_lease_replacement` to `transition_lease`',
        'drop table `transition_lease`',
      ],
    ],
    killedAt: '^rename table',
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

    // After a statement is before the next one. In the midst of it its session may outlive the process for a moment.
    const [creation, upgrade] = found;
    const moments = [
      { ...creation, when: 'after' },
      { ...upgrade, when: 'after' },
      { ...upgrade, when: 'during' },
    ] as const;
    test.each(moments)(
      '$when it, on $what: another finishes it, as if nothing had been',
      async ({ when, ...shape }) => {
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
          const victim = start({ ...setup, killAt: { statement: died.length + 1, when } });
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
      },
    );

    test('with no table in its place for a moment, the rows are lost to a kill at that moment', async () => {
      await dropOwn(place.db, where);
      await makeFirstShape(place.db, where);
      const { mutants, killedAt } = careless[server.name as keyof typeof careless];
      const victim = start({ address: place.address, mutants, killAt: { statement: killedAt, when: 'after' } });
      await expect(victim.call('schema')).rejects.toThrow('SIGKILL');
      expect(await start({ address: place.address }).call('schema')).toEqual({ ok: 'created' });
      expect(await tasksNow()).toEqual([]);
    });
  });
});
