import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OnServerCommands, OnServerSetup } from '../process/child/on-server.js';
import type { GateSetup } from '../process/child/setup.js';
import { Child } from '../process/children.js';
import { dropOwn, makeFirstShape, schemaOf, upgradedTasks, type Where } from './own-schema.js';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

type Member = Child<OnServerCommands>;
type Found = (typeof found)[number];

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8];

/** A lock of the server that one can take for itself and eight can take together. */
interface Means {
  readonly server: TestServer;
  readonly close: string;
  readonly open: string;
  readonly pass: readonly string[];
  readonly serializable: string;
  /** Takes the lock of the library away. */
  readonly withoutLock: NonNullable<GateSetup['mutants']>;
}

const servers: readonly Means[] = [
  {
    server: postgresServer,
    close: 'select pg_advisory_lock(hashtext(current_schema()))',
    open: 'select pg_advisory_unlock(hashtext(current_schema()))',
    pass: [
      'select pg_advisory_lock_shared(hashtext(current_schema()))',
      'select pg_advisory_unlock_shared(hashtext(current_schema()))',
    ],
    serializable: "set default_transaction_isolation = 'serializable'",
    withoutLock: [['pg_advisory_xact_lock', 'abs']],
  },
  {
    server: mysqlServer,
    close: 'lock tables barrier write',
    open: 'unlock tables',
    pass: ['lock tables barrier read', 'unlock tables'],
    serializable: 'set session transaction isolation level serializable',
    withoutLock: [
      ['get_lock(', '0 < length(concat('],
      ['10) as granted', '10)) as granted'],
    ],
  },
];

const found = [
  { what: 'an empty database', change: 'created', tasks: [] },
  { what: 'a lease table of the first shape', change: 'upgraded', tasks: [7, 8] },
] as const;

/** Where the tables are, and what else the processes are told. */
const worlds = [
  { world: 'by default', rounds: 40, schema: '', table: 'transition_lease', journal: false },
  { world: 'elsewhere, with a journal, serializable', rounds: 10, schema: '_other', table: 'lease', journal: true },
] as const;

describe.each(servers)('$server.name', ({ server, close, open, pass, serializable, withoutLock }) => {
  describe.skipIf(server.missing !== undefined)('eight processes at once', () => {
    let place: Place;
    let own: string;

    beforeAll(async () => {
      place = await server.make('bootstrap');
      own = place.address.schema;
      await sql`create schema ${sql.id(`${own}_other`)}`.execute(place.db);
      await sql`create table barrier (id integer)`.execute(place.db);
    });
    afterAll(async () => {
      await sql`drop schema ${sql.id(`${own}_other`)} ${sql.raw(server === postgresServer ? 'cascade' : '')}`.execute(
        place.db,
      );
      await place.drop();
    });

    /** Processes that stay up, and what they have in common. */
    function eight({ schema, table, journal }: (typeof worlds)[number], gate: GateSetup = {}, processes = EIGHT) {
      const where: Where = { schema: `${own}${schema}`, table };
      const setup: OnServerSetup = {
        address: place.address,
        // All of them have looked, and found that there is something to do, before one of them begins.
        meetBefore: { statement: '^begin', by: pass },
        ...(journal && { begin: [serializable], effects: {} }),
        ...(schema !== '' && { lease: where }),
        ...gate,
      };
      const members: Member[] = processes.map(() => new Child('on-server', setup));
      const barrier = place.connect({ max: 1 });
      const prepare = async ({ tasks }: Found) => {
        await dropOwn(place.db, where);
        if (tasks.length > 0) await makeFirstShape(place.db, where);
      };
      const all = async (): Promise<string[]> => {
        await sql.raw(close).execute(barrier);
        const asked = members.map((member) => member.call('schema'));
        await place.waiting(EIGHT.length);
        await sql.raw(open).execute(barrier);
        return (await Promise.all(asked)).map((answer) => ('ok' in answer ? answer.ok : answer.err.message)).sort();
      };
      return {
        where,
        members,
        prepare,
        /** What one alone answers, and makes. */
        alone: async (shape: Found) => {
          await prepare(shape);
          expect(await members[0]?.call('schema')).toEqual({ ok: shape.change });
          return schemaOf(place.db, where, place.address.server);
        },
        /** What all answer who began at once. */
        round: async (shape: Found) => {
          await prepare(shape);
          return all();
        },
        /** All of them want one task. */
        acquire: async () => {
          const acquired = await Promise.all(members.map((member) => member.call('acquire', { taskId: 9 })));
          return acquired.map((answer) => ('ok' in answer ? 'ok' : answer.err.type)).sort();
        },
      };
    }

    const once = ({ change }: Found) => [change, ...Array<string>(7).fill('unchanged')].sort();

    test.each(worlds)(
      'ensureSchema $world, in $rounds rounds: one has made or upgraded what one alone would have, nobody fails',
      { timeout: 120_000 },
      async (world) => {
        const { where, alone, round, acquire } = eight(world);
        for (const shape of found) {
          const made = await alone(shape);
          for (let nth = 1; nth <= world.rounds; nth += 1) {
            expect(await round(shape)).toEqual(once(shape));
            expect(await upgradedTasks(place.db, where)).toEqual(shape.tasks);
            expect(await schemaOf(place.db, where, place.address.server)).toEqual(made);
            expect(await acquire()).toEqual([...Array<string>(7).fill('lease-busy'), 'ok']);
          }
        }
      },
    );

    describe('without the lock of the schema', () => {
      const [creation, upgrade] = found;

      test('eight who upgrade at once do not agree, and some may fail', async () => {
        const { round } = eight(worlds[0], { mutants: withoutLock });
        const rounds: string[][] = [];
        while (rounds.length < worlds[0].rounds && isDeepStrictEqual(rounds.at(-1) ?? once(upgrade), once(upgrade))) {
          rounds.push(await round(upgrade));
        }
        expect(rounds.at(-1)).not.toEqual(once(upgrade));
      });

      test.each([
        { ...creation, parkBefore: '^create table' },
        { ...upgrade, parkBefore: '^create table if not exists .transition_lease_replacement' },
      ])('two who have looked both say $change, the second after the first', async ({ parkBefore, ...shape }) => {
        const { prepare, members } = eight(worlds[0], { mutants: withoutLock, parkBefore }, [1, 2]);
        await prepare(shape);
        const both = members.map((member) => ({ member, asked: member.call('schema') }));
        await Promise.all(members.map((member) => member.said('parked')));
        for (const { member, asked } of both) {
          await member.call('proceed');
          expect(await asked).toEqual({ ok: shape.change });
        }
      });
    });
  });
});
