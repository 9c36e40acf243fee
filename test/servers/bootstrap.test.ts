import { sql } from 'kysely';
import { acquireLease, createTransitionOwnership, ensureSchema } from 'transition-ownership';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

const ROUNDS = 40;
const PROCESSES = 8;

/** Eight sessions of eight handles ask for the schema at one moment, forty times. */
function bootstrap(server: TestServer, levels: readonly string[]): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('bootstrap');
    });
    afterAll(() => place.drop());

    describe.each(levels)('with sessions that begin with %j', (begin) => {
      const suffix = String(levels.indexOf(begin));

      const rounds = async (name: string, prepare: (table: string) => Promise<unknown>) => {
        const handles = Array.from({ length: PROCESSES }, () => place.connect({ max: 1, begin: [begin] }));
        for (const handle of handles) await sql`select 1`.execute(handle);
        const changes: Record<string, number> = { created: 0, upgraded: 0, unchanged: 0 };
        for (let round = 0; round < ROUNDS; round += 1) {
          const table = `${name}_${suffix}_${round}`;
          await prepare(table);
          const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;
          const ownerships = handles.map((db) => createTransitionOwnership({ db, tasks, lease: { table } }));
          const answers = await Promise.all(ownerships.map((ownership) => ensureSchema(ownership)));
          for (const answer of answers) changes[answer._unsafeUnwrap()] = (changes[answer._unsafeUnwrap()] ?? 0) + 1;
          const [first] = ownerships;
          if (first === undefined) throw new Error('there are eight');
          expect((await acquireLease(first, { taskId: 9, actor: 'monitor' })).isOk()).toBe(true);
          const { rows } = await sql<{ task_id: unknown; owner: string; acquired_ms: unknown }>`
            select task_id, owner, acquired_ms from ${sql.id(table)} order by task_id`.execute(place.db);
          expect(rows.map(({ task_id, owner }) => [Number(task_id), owner])).toEqual(
            name === 'old'
              ? [
                  [7, 'old'],
                  [8, 'old'],
                  [9, 'monitor'],
                ]
              : [[9, 'monitor']],
          );
          await sql`drop table ${sql.id(table)}`.execute(place.db);
        }
        return changes;
      };

      test('an empty database gets the table once in each round', { timeout: 120_000 }, async () => {
        const changes = await rounds('new', async () => {});
        expect(changes).toEqual({ created: ROUNDS, upgraded: 0, unchanged: ROUNDS * (PROCESSES - 1) });
      });

      test('a table of the first shape is upgraded once in each round, with its rows', {
        timeout: 120_000,
      }, async () => {
        const changes = await rounds('old', async (table) => {
          await sql`create table ${sql.id(table)} (task_id bigint not null primary key, owner varchar(40) not null,
            owner_pid bigint, owner_boot_id varchar(40), run_id bigint, stage varchar(40), acquired_at varchar(40))`.execute(
            place.db,
          );
          await sql`insert into ${sql.id(table)} values (7, 'old', 1, 'b', 2, 's', '2026-01-02 03:04:05'),
            (8, 'old', 1, 'b', 2, 's', null)`.execute(place.db);
        });
        expect(changes).toEqual({ created: 0, upgraded: ROUNDS, unchanged: ROUNDS * (PROCESSES - 1) });
      });
    });
  });
}

bootstrap(postgresServer, ['select 1', "set default_transaction_isolation = 'serializable'"]);
bootstrap(mysqlServer, ['select 1', 'set session transaction isolation level serializable']);
