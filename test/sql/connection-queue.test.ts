import BetterSqlite3 from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { manualClock } from 'transition-ownership/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConnectionQueue } from '../../src/sql/connection-queue.js';
import type { Place } from '../../src/sql/waiting.js';
import { systemClock } from '../../src/system/clock.js';

/** Work that ends when it is told to. */
function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Lets everything run that can. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('ConnectionQueue', () => {
  let database: Kysely<object>;
  let queue: ConnectionQueue;
  let place: Place;

  beforeEach(() => {
    database = new Kysely<object>({ dialect: new SqliteDialect({ database: new BetterSqlite3(':memory:') }) });
    queue = new ConnectionQueue();
    place = { database, clock: systemClock, busyWaitMs: 5_000 };
  });
  afterEach(() => database.destroy());

  const select = (value: number) => () => sql`select ${value} as value`.compile(database);

  test('lets one at a time through, in the order in which they came', async () => {
    const gates = [gate(), gate(), gate()];
    const entered: number[] = [];
    const passed = gates.map(({ opened }, at) =>
      queue.hold(place, async () => {
        entered.push(at);
        await opened;
      }),
    );
    for (const [at, { open }] of gates.entries()) {
      await settle();
      expect(entered).toEqual([0, 1, 2].slice(0, at + 1));
      open();
    }
    await Promise.all(passed);
  });

  test('lets nobody overtake who comes while the next one is on its way in', async () => {
    const entered: string[] = [];
    const enter = (name: string) => queue.hold(place, async () => void entered.push(name));
    const { open, opened } = gate();
    const first = queue.hold(place, () => opened);
    const waited = enter('waited');
    // Comes after the first has left, and before the one that waited has run.
    const late = opened.then(() => enter('came late'));
    open();
    await Promise.all([first, waited, late]);
    expect(entered).toEqual(['waited', 'came late']);
  });

  test('goes on when a statement or work fails, and tells only the one whose it was', async () => {
    const failed = queue.hold(place, () => Promise.reject(new Error('the disk is full')));
    const wrong = queue.send(place, () => sql`select`.compile(database));
    const next = queue.send(place, select(1));
    await expect(failed).rejects.toThrow('the disk is full');
    await expect(wrong).rejects.toThrow('incomplete input');
    expect(await next).toEqual({ rows: [{ value: 1 }] });
    expect(await queue.send(place, select(2))).toEqual({ rows: [{ value: 2 }] });
  });

  test('lets thousands through without forgetting one', async () => {
    const numbers = Array.from({ length: 5_000 }, (_, at) => at);
    const results = await Promise.all(numbers.map((at) => queue.send(place, select(at))));
    expect(results.map((result) => result?.rows)).toEqual(numbers.map((value) => [{ value }]));
  });

  test('fails all that wait for a database that is closed, each with what the driver says', async () => {
    await queue.send(place, select(1));
    await database.destroy();
    const waiting = [queue.send(place, select(1)), queue.hold(place, async () => {}), queue.send(place, select(2))];
    for (const sent of waiting) await expect(sent).rejects.toThrow('driver has already been destroyed');
  });

  describe('while a transaction of the caller has the connection', () => {
    const clock = manualClock();
    const busyWaitMs = 1_000;
    const taken = 'a transaction of yours may have the only connection: use ownership.using(trx)';
    let patient: Place;
    let transaction: { readonly open: () => void; readonly ended: Promise<unknown> };

    beforeEach(async () => {
      patient = { database, clock, busyWaitMs };
      await sql`create table seen (value integer)`.execute(database);
      const { open, opened } = gate();
      const begun = gate();
      const ended = database.transaction().execute(async () => {
        begun.open();
        await opened;
      });
      await begun.opened;
      transaction = { open, ended };
    });
    afterEach(async () => {
      transaction.open();
      await transaction.ended;
    });

    const insert = (value: number) => () => sql`insert into seen values (${value})`.compile(database);
    const seen = async () =>
      (await sql<{ value: number }>`select value from seen order by value`.execute(database)).rows;

    test('each gives up after its own wait, and is never sent', async () => {
      const told: string[] = [];
      const ask = (name: string, sent: Promise<unknown>) =>
        sent.then(
          () => told.push(`${name} was sent`),
          (cause: unknown) => told.push(`${name}: ${cause instanceof Error ? cause.message : ''}`),
        );
      void ask('first', queue.send(patient, insert(1)));
      clock.advance(600);
      void ask('second', queue.send(patient, insert(2)));
      void ask('hasty', queue.send({ ...patient, busyWaitMs: 100 }, insert(3)));
      clock.advance(99);
      await settle();
      expect(told).toEqual([]);
      clock.advance(1);
      await settle();
      expect(told).toEqual([`hasty: ${taken}`]);
      clock.advance(300);
      await settle();
      expect(told).toEqual([`hasty: ${taken}`, `first: ${taken}`]);
      clock.advance(599);
      await settle();
      expect(told).toHaveLength(2);
      clock.advance(1);
      await settle();
      expect(told).toEqual([`hasty: ${taken}`, `first: ${taken}`, `second: ${taken}`]);

      const work = ask(
        'work',
        queue.hold(patient, () => sql`insert into seen values (4)`.execute(database)),
      );
      clock.advance(1_000);
      await work;
      expect(told).toContain(`work: ${taken}`);
      const last = queue.send(patient, insert(5));
      transaction.open();
      await last;
      expect(await seen()).toEqual([{ value: 5 }]);
      expect(clock.scheduled).toBe(0);
    });

    test('one who waits for a trusted lease goes on waiting for as long as that is trusted', async () => {
      let trustedMs = 3_000;
      const told: string[] = [];
      const held = queue.send(patient, insert(1), { trustedForMs: () => trustedMs });
      held.then(
        () => told.push('sent'),
        () => told.push('given up'),
      );
      for (let passed = 0; passed < 2_900; passed += 100) {
        clock.advance(100);
        trustedMs -= 100;
      }
      await settle();
      expect(told).toEqual([]);
      trustedMs = 0;
      clock.advance(100);
      await settle();
      expect(told).toEqual(['given up']);
    });

    test('a queue that moves is waited for, however long that takes', async () => {
      transaction.open();
      await transaction.ended;
      const steps = Array.from({ length: 5 }, gate);
      const slow = steps.map(({ opened }) => queue.hold(patient, () => opened));
      const last = queue.send(patient, insert(1));
      for (const { open } of steps) {
        await settle();
        clock.advance(900);
        open();
      }
      await Promise.all(slow);
      await last;
      expect(await seen()).toEqual([{ value: 1 }]);
    });
  });
});
