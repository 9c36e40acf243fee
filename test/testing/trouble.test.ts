import { setImmediate as soon } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { explore, memoryStore, type Process, type Scenario } from '../../src/testing/index.js';

const store = memoryStore({ migrate: (db) => sql`create table note (text text)`.execute(db) });

afterAll(() => store.close());

const alone = (main: (process: Process) => Promise<unknown>, rest: Partial<Scenario> = {}): Scenario => ({
  processes: { A: main },
  ...rest,
});

const violated = async (scenario: Scenario) => (await explore(store, scenario, { maxSteps: 60 })).failure?.violated;

describe('a bare check breaks its rule', () => {
  const done = () => Promise.resolve('done');

  test.each(['invariant', 'finally', 'eventually'] as const)(
    'in `%s`, by `false` or a sentence, as a named one does',
    async (member) => {
      expect(await violated(alone(done, { [member]: () => false }))).toMatch(/: it does not$/);
      expect(await violated(alone(done, { [member]: async () => 'it rains' }))).toMatch(/: it rains$/);
      expect(await violated(alone(done, { [member]: () => true }))).toBe(undefined);
      expect(await violated(alone(done, { [member]: () => 0 }))).toBe(undefined);
    },
  );
});

describe('a schedule that cannot be trusted fails', () => {
  test('when a process awaits something outside the world', async () => {
    const scenario = alone(() => new Promise(() => undefined));
    expect(await violated(scenario)).toMatch(/await outside the world: process A .*Wrap it in `effect`\/`port`/);
  });

  test('when a process waits for real time', async () => {
    const main = async () => {
      for (let turns = 0; turns < 20; turns++) await soon();
    };
    expect(await violated(alone(main))).toMatch(/await outside the world/);
  });

  test('when chance that no schedule controls decides what is sent', async () => {
    let times = 0;
    const main = ({ db }: Process) =>
      db
        .insertInto('note')
        .values({ text: `${(times += 1)}` })
        .execute();
    expect(await violated(alone(main))).toMatch(/two runs of one schedule differ/);
  });

  test('when state outside the database is not reset by setup', async () => {
    const sent: string[] = [];
    const main = async ({ effect, name }: Process) => {
      await effect('send', () => sent.push(name));
      return effect('count', () => sent.length);
    };
    const scenario: Scenario = { processes: { A: main, B: main } };
    expect(await violated(scenario)).toMatch(/two runs of one schedule differ/);
    expect(await violated({ ...scenario, setup: () => void sent.splice(0) })).toBeUndefined();
  });

  test('when a fault of the scenario was never met', async () => {
    const scenario = alone(({ work }) => work(), { faults: { crashes: 1, lostReplies: 1, failures: 1 } });
    expect(await violated(scenario)).toMatch(/vacuous: no schedule met any of lostReplies, failures/);
  });

  test('when an effect awaits a statement', async () => {
    const main = ({ db, effect }: Process) => effect('both', () => db.selectFrom('note').selectAll().execute());
    expect(await violated(alone(main))).toMatch(/effect "both" of process A does not end: it awaits a statement/);
  });

  test('when a process goes on for ever', async () => {
    const main = async ({ work }: Process) => {
      for (;;) await work();
    };
    expect(await violated(alone(main))).toMatch(/no end after 60 steps/);
  });

  test('when a process throws what no fault explains', async () => {
    const main = () => Promise.reject(new Error('oops'));
    expect(await violated(alone(main))).toMatch(/process A threw: oops/);
    expect(await violated(alone(main, { mayThrow: () => true }))).toBeUndefined();
  });

  test('but a process may die of an injected error', async () => {
    const main = ({ db }: Process) => db.selectFrom('note').selectAll().execute();
    expect(await violated(alone(main, { faults: { failures: 1, lostReplies: 1 } }))).toBeUndefined();
  });

  test('and a setup that throws is a mistake of the test, not a finding', async () => {
    const scenario = alone(({ work }) => work(), { setup: () => Promise.reject(new Error('no such table')) });
    await expect(explore(store, scenario)).rejects.toThrow('no such table');
  });
});
