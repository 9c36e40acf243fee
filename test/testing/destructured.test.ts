import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import {
  assertHolds,
  type CustomStore,
  customStore,
  explore,
  fixedIdentity,
  handlerSuite,
  invariant,
  manualClock,
  memoryStore,
  type Process,
  type Runner,
  recordEvents,
  sqliteFileStore,
  type TestStore,
} from '../../src/testing/index.js';
import { rewritingStore } from '../../src/testing/suite/rewriting-store.js';

interface Tables {
  parcel: { id: number; state: string };
}

const migrate = (db: Process<Tables>['db']) =>
  sql`create table parcel (id integer primary key, state text)`.execute(db);

/** The same object in which every function was taken off it, as destructuring does. */
function apart<T extends object>(whole: T): T {
  const members: Record<string, unknown> = {};
  for (let from: object = whole; from !== Object.prototype; from = Object.getPrototypeOf(from) as object) {
    for (const name of Object.getOwnPropertyNames(from)) {
      const value: unknown = Reflect.get(whole, name);
      if (name === 'constructor' || Object.hasOwn(members, name)) continue;
      const call = value as (...params: unknown[]) => unknown;
      members[name] = typeof value === 'function' ? (...params: unknown[]) => call(...params) : value;
    }
  }
  return members as T;
}

/** A process that uses everything it was given. */
const pack = async (whole: Process<Tables>) => {
  const { db, effect, work, op, ghost, random, port, clock, createOwnership } = apart(whole);
  const time = apart(clock);
  time.schedule(time.now() + time.wallMs() + time.monotonicMs(), () => undefined).cancel();
  await time.sleep(1);
  ghost({ drawn: random() < 1 });
  createOwnership({ tasks: { table: 'parcel', id: 'id', stage: 'state' } });
  const printer = { label: 'packed', print: () => printer.label };
  const { print } = apart(port('printer', printer));
  await work();
  await op('pack', async () => {
    await effect('look', () => undefined);
    const state = await print();
    await db.insertInto('parcel').values({ id: 1, state }).execute();
  });
};

describe('members of the kit taken off their object still work', () => {
  const stores: readonly [string, () => TestStore<Tables>][] = [
    ['memoryStore', () => memoryStore<Tables>({ migrate })],
    ['sqliteFileStore', () => sqliteFileStore<Tables>({ migrate })],
    ['customStore', () => customStore(apart(memoryStore<Tables>({ migrate })))],
  ];

  test.each(stores)('%s, its connections, the process, the world and the failure', async (_name, make) => {
    const store = make();
    const detached: TestStore<Tables> = {
      ...apart(store),
      errors: apart(store.errors),
      connect: async () => apart(await store.connect()),
    };
    const onePacked = invariant<Tables>('one packed', (world) => {
      const { rows } = apart(world);
      return rows('parcel').every(({ state }) => state === 'packed') || 'it is not';
    });
    const scenario = { processes: { A: pack }, faults: { failures: 1, lostReplies: 1, crashes: 1 } };
    try {
      assertHolds(await explore(detached, { ...scenario, invariant: onePacked }));
      const nonePacked = invariant<Tables>('none packed', ({ rows }) => rows('parcel').length === 0);
      const { failure } = await explore(detached, { ...scenario, invariant: nonePacked });
      if (failure === undefined) throw new Error('a broken rule was not found');
      const { html } = failure;
      expect(html()).toContain('insert into');
    } finally {
      await detached.close();
    }
  });

  test('a store that is an object of a class works in customStore, and its statements can be mutated', async () => {
    class Recording implements CustomStore<Tables> {
      readonly name = 'recording';
      readonly #inner = memoryStore<Tables>({ migrate });
      readonly nowMs = this.#inner.nowMs;
      resets = 0;

      get admin() {
        return this.#inner.admin;
      }
      open = () => this.#inner.open();
      connect() {
        return this.#inner.connect();
      }
      reset() {
        this.resets += 1;
        return this.#inner.reset();
      }
      setNow(nowMs: number) {
        return this.#inner.setNow(nowMs);
      }
      snapshot() {
        return this.#inner.snapshot();
      }
    }
    const own = new Recording();
    const store = rewritingStore(customStore<Tables>(own), (text) => text.replace('insert', 'insert or replace'));
    try {
      assertHolds(await explore(store, { processes: { A: pack } }));
      expect(own.resets).toBeGreaterThan(0);
    } finally {
      await store.close();
    }
  });

  test('a runner that is an object with methods is left whole', () => {
    class Collecting implements Runner {
      readonly heard: string[] = [];

      describe(name: string, define: () => void): void {
        this.heard.push(name);
        define();
      }

      test(): void {
        this.heard.push('test');
      }

      after(): void {
        this.heard.push('after');
      }
    }
    const runner = new Collecting();
    const machine = { initial: 'a', final: ['a'], handlers: {} };
    handlerSuite(runner, { store: () => memoryStore(), machine, faults: {} });
    expect(runner.heard).toEqual(['stage handlers', 'test', 'after']);
  });

  test('the doubles', () => {
    const clock = apart(manualClock());
    const { advance, setWall } = clock;
    advance(5);
    setWall(1);
    expect([clock.wallMs(), clock.monotonicMs()]).toEqual([1_000_006, 5]);
    const { sameHost, rebooted, pidReused, elsewhere } = apart(fixedIdentity());
    expect([sameHost(), rebooted(), pidReused(), elsewhere()].map(({ pid }) => pid)).toEqual([102, 102, 101, 101]);
    const { of, clear } = apart(recordEvents());
    clear();
    expect(of('lease.lost')).toEqual([]);
  });
});
