import { array, assert, asyncProperty, constant, constantFrom, nat, oneof, record } from 'fast-check';
import { sql } from 'kysely';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { UnitOutcome } from '../../src/sql/together.js';
import { OneCommit } from '../../src/sqlite/one-commit.js';
import { Group, type GroupOptions, type Told } from './group.js';
import type { Opener } from './openers.js';

const insert = (id: number, value: number) => `insert into item values (${id}, ${value}) returning id`;

/** What writes that wait for one connection must do together, over any driver. */
export function grouped({ open, connect, missing }: Opener): void {
  const make = (options: Partial<GroupOptions> = {}): Group => new Group({ open, ...options });

  describe.skipIf(missing !== undefined)('one connection', () => {
    describe('writes that wait for the connection together', () => {
      test('go in one commit, in the order in which they came, and each gets its own answer', async () => {
        const group = await make().fill();
        const told = await Promise.all([1, 2, 3].map((id) => group.send(insert(id, id))));
        expect(told).toEqual([[{ id: 1 }], [{ id: 2 }], [{ id: 3 }]]);
        expect(group.sent).toEqual(['begin immediate', insert(1, 1), insert(2, 2), insert(3, 3), 'commit']);
      });

      test('a lone write goes as it is, and waits for no company', async () => {
        const group = await make().fill();
        await group.send(insert(1, 1));
        await group.send(insert(2, 2));
        expect(group.sent).toEqual([insert(1, 1), insert(2, 2)]);
      });

      test('no answer comes before the commit: another connection sees each row when its answer is there', async () => {
        const group = await make().fill();
        const onlooker = connect(group.path);
        const look = onlooker.prepare('select count(*) as seen from item where id = ?');
        const seen = await Promise.all(
          Array.from({ length: 300 }, (_, id) => group.send(insert(id, 1)).then(() => look.all(id)[0]?.seen)),
        );
        onlooker.close();
        expect(seen).toEqual(Array.from({ length: 300 }, () => 1));
      });

      test('no more than 256 go in one commit', async () => {
        const group = await make().fill();
        await Promise.all(Array.from({ length: 600 }, (_, id) => group.send(insert(id, 1))));
        const commits = group.sent.join('\n').split('commit');
        for (const one of commits) expect(one.split('insert').length - 1).toBeLessThanOrEqual(256);
        expect(commits.length).toBeGreaterThan(3);
        expect(await group.rows()).toHaveLength(600);
      });

      test('a read does not join, and comes in its turn', async () => {
        const group = await make().fill();
        const count = 'select count(*) as count from item';
        const told = await Promise.all([
          group.send(insert(1, 1)),
          group.send(insert(2, 2)),
          group.send(count),
          group.send(insert(3, 3)),
        ]);
        expect(told[2]).toEqual([{ count: 2 }]);
        expect(group.sent).toEqual(['begin immediate', insert(1, 1), insert(2, 2), 'commit', count, insert(3, 3)]);
      });

      test('a write that fails alone fails alone', async () => {
        const group = await make().fill();
        const told = await Promise.all(
          [insert(1, 1), insert(1, 2), insert(2, 14), insert(3, 3)].map((one) => group.send(one)),
        );
        expect(told).toEqual([[{ id: 1 }], 'UNIQUE constraint failed: item.id', 'fourteen', [{ id: 3 }]]);
        expect(await group.rows()).toEqual([
          { id: 1, value: 1 },
          { id: 3, value: 3 },
        ]);
        expect(group.sent.filter((text) => text === 'begin immediate')).toHaveLength(1);
      });

      test('where one takes back what all had done, each goes again by itself', async () => {
        const group = await make().fill();
        const told = await Promise.all([insert(1, 1), insert(2, 13), insert(3, 3)].map((one) => group.send(one)));
        expect(told).toEqual([[{ id: 1 }], 'thirteen', [{ id: 3 }]]);
        expect(await group.rows()).toEqual([
          { id: 1, value: 1 },
          { id: 3, value: 3 },
        ]);
      });

      test('where the commit fails, each goes again by itself, and only the one that is wrong fails', async () => {
        const group = await make().fill();
        const told = await Promise.all([
          group.send(insert(1, 1)),
          group.send('insert into part values (1, 7)'),
          group.sendPair('insert into part values (2, 8) returning id', insert(2, 2)),
          group.send(insert(3, 3)),
        ]);
        const violated = 'FOREIGN KEY constraint failed';
        expect(told).toEqual([[{ id: 1 }], violated, violated, [{ id: 3 }]]);
        expect(await group.rows()).toEqual([
          { id: 1, value: 1 },
          { id: 3, value: 3 },
        ]);
      });

      test('on a full disk those are told that have no room, and nothing of theirs is there', async () => {
        const group = await make().fill();
        await sql`create table blob (id integer primary key, bytes blob)`.execute(group.db);
        const { page_count } = (await sql<{ page_count: number }>`pragma page_count`.execute(group.db)).rows[0] ?? {
          page_count: 0,
        };
        await sql.raw(`pragma max_page_count = ${page_count + 4}`).execute(group.db);
        const large = (id: number) => `insert into blob values (${id}, zeroblob(6000)) returning id`;
        const told = await Promise.all(
          [insert(1, 1), ...[1, 2, 3, 4].map(large), insert(2, 2)].map((one) => group.send(one)),
        );
        const full = told.filter((one) => one === 'database or disk is full').length;
        expect(full).toBeGreaterThan(0);
        expect(told[0]).toEqual([{ id: 1 }]);
        const { rows } = await sql`select id from blob`.execute(group.db);
        expect(rows).toHaveLength(4 - full + (told[5] === 'database or disk is full' ? 1 : 0));
      });

      test('a lock of another process refuses them all after one wait of the driver', async () => {
        const group = await make().fill();
        const other = connect(group.path);
        other.exec('begin immediate');
        const sinceMs = performance.now();
        const told = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((id) => group.send(insert(id, id))));
        expect(performance.now() - sinceMs).toBeLessThan(8 * 100);
        other.exec('rollback');
        other.close();
        expect(new Set(told)).toEqual(new Set(['database is locked']));
        expect(group.sent).toEqual(['begin immediate']);
      });

      test('in a transaction that somebody opened past Kysely they go one by one, and stay in it', async () => {
        const group = await make().fill();
        await sql`begin`.execute(group.db);
        await Promise.all([1, 2].map((id) => group.send(insert(id, id))));
        expect(await group.sendPair(insert(3, 3), insert(4, 4))).toBe('elsewhere');
        await sql`rollback`.execute(group.db);
        expect(await group.rows()).toEqual([]);
      });

      test('where Kysely logs, each statement goes by itself, so that all are seen', async () => {
        const group = await make({ log: () => undefined }).fill();
        await Promise.all([1, 2].map((id) => group.send(insert(id, id))));
        expect(await group.sendPair(insert(3, 3), insert(4, 4))).toBe('elsewhere');
        expect(group.sent).toEqual([insert(1, 1), insert(2, 2)]);
      });
    });

    describe('a pair', () => {
      test('alone is one commit, and its second part runs only where the first changed a row', async () => {
        const group = await make().fill();
        expect(await group.sendPair(insert(1, 1), insert(2, 2))).toEqual([{ id: 1 }]);
        expect(group.sent).toEqual(['begin immediate', insert(1, 1), insert(2, 2), 'commit']);
        expect(await group.sendPair('update item set value = 5 where id = 9 returning id', insert(3, 3))).toEqual([]);
        expect(await group.rows()).toHaveLength(2);
      });

      test.each([
        ['alone', 0],
        ['among others', 2],
      ])('%s is both or neither', async (_, others) => {
        const group = await make().fill();
        const beside = Array.from({ length: others }, (_each, at) => group.send(insert(10 + at, 1)));
        const told = await Promise.all([group.sendPair(insert(1, 1), insert(1, 2)), ...beside]);
        expect(told[0]).toBe('UNIQUE constraint failed: item.id');
        expect(await group.rows()).toHaveLength(others);
      });
    });

    describe('beside what the caller sends', () => {
      test('a statement of the caller comes after the commit under way, and not after all that wait', async () => {
        const group = await make().fill();
        let answered = 0;
        const all = Promise.all(
          Array.from({ length: 2_000 }, (_, id) => group.send(insert(id, 1)).then(() => (answered += 1))),
        );
        await sql`select 1`.execute(group.db);
        expect(answered).toBeLessThan(1_000);
        await all;
      });

      test('a transaction of the caller has the connection to itself, and its rollback takes back only what is its own', async () => {
        const group = await make().fill();
        const waiting: Promise<Told>[] = [];
        const rolledBack = group.db.transaction().execute(async (trx) => {
          for (let id = 0; id < 50; id += 1) waiting.push(group.send(insert(id, 1)));
          await sql`insert into item values (1000, 1)`.execute(trx);
          await new Promise((turn) => setTimeout(turn, 20));
          throw new Error('rolled back');
        });
        await expect(rolledBack).rejects.toThrow('rolled back');
        expect(await Promise.all(waiting)).toHaveLength(50);
        expect(await group.rows()).toHaveLength(50);
      });
    });

    /** Rejects where a list of things asked for at once gives other answers, or leaves other rows, than one by one. */
    async function likeOneByOne(numRuns: number): Promise<void> {
      const [together, alone] = [await make().fill(), await make().fill()];
      const property = asyncProperty(array(asked, { minLength: 2, maxLength: 12 }), async (list) => {
        for (const group of [together, alone]) {
          await sql`delete from item`.execute(group.db);
          await sql`delete from part`.execute(group.db);
        }
        const expected: Told[] = [];
        for (const one of list) expected.push(await ask(alone, one));
        expect(await Promise.all(list.map((one) => ask(together, one)))).toEqual(expected);
        expect(await together.rows()).toEqual(await alone.rows());
      });
      await assert(property, { numRuns });
    }

    test('whatever is asked for at once gets the answers, and leaves the rows, of the same one by one', () =>
      likeOneByOne(300));

    describe('and that is noticed to be otherwise', () => {
      const run = Reflect.get(OneCommit.prototype, 'run');
      const done: UnitOutcome = { is: 'done', result: { rows: [] } };
      afterEach(() => void vi.restoreAllMocks());

      test('where what was taken back is told as done', async () => {
        vi.spyOn(OneCommit.prototype, 'run').mockImplementation(function (this: OneCommit, units, isOver) {
          const outcomes = run.call(this, units, isOver);
          return outcomes === 'taken-back' ? units.map(() => done) : outcomes;
        });
        await expect(likeOneByOne(300)).rejects.toThrow('Property failed');
      });

      test('where the second part of a pair among others runs whatever the first did', async () => {
        vi.spyOn(OneCommit.prototype, 'run').mockImplementation(function (this: OneCommit, units, isOver) {
          if (units.length === 1) return run.call(this, units, isOver);
          const apart = units.flatMap(({ query, whereChanged }) => [query, ...(whereChanged ? [whereChanged] : [])]);
          const all = run.call(
            this,
            apart.map((query) => ({ query, whereChanged: undefined })),
            isOver,
          );
          if (typeof all === 'string') return all;
          let at = 0;
          return units.flatMap(({ whereChanged }) => {
            const outcome = all[at];
            at += whereChanged ? 2 : 1;
            return outcome ? [outcome] : [];
          });
        });
        await expect(likeOneByOne(300)).rejects.toThrow('Property failed');
      });

      test('where the answers are given before the commit', async () => {
        vi.spyOn(OneCommit.prototype, 'run').mockReturnValue([done, done]);
        const group = await make().fill();
        await Promise.all([1, 2].map((id) => group.send(insert(id, 1))));
        expect(await group.rows()).toEqual([]);
      });
    });
  });
}

/** One thing that is asked for. */
type Asked =
  | { readonly is: 'send'; readonly sql: string }
  | { readonly is: 'pair'; readonly sql: string; readonly then: string };

const id = nat(5);
const value = oneof({ weight: 6, arbitrary: nat(9) }, constantFrom(13, 14, 100));
const write = oneof(
  record({ id, value }).map((row) => insert(row.id, row.value)),
  record({ id, value }).map((row) => `update item set value = ${row.value} where id = ${row.id} returning id, value`),
  id.map((one) => `delete from item where id = ${one} returning id`),
  id.map((one) => `insert into part values (${one}, ${one}) returning id`),
  constant('insert into nowhere values (1)'),
);
const asked = oneof(
  write.map((text): Asked => ({ is: 'send', sql: text })),
  record({ first: write, second: write }).map(({ first, second }): Asked => ({ is: 'pair', sql: first, then: second })),
  constant<Asked>({ is: 'send', sql: 'select id, value from item order by id' }),
);

const ask = (group: Group, one: Asked): Promise<Told> =>
  one.is === 'send' ? group.send(one.sql) : group.sendPair(one.sql, one.then);
