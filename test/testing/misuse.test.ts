import * as kit from 'transition-ownership/testing';
import { expect, test } from 'vitest';

type Untyped = (...given: unknown[]) => unknown;

const runner = { describe: () => undefined, test: () => undefined };
const store = {
  open() {
    throw new Error('the store was opened');
  },
};
const processes = { A: () => undefined };
const scenario = { processes };
const main = () => undefined;
const machine = { initial: 'a', final: ['b'], handlers: { a: main } };

/** Each object of named parts that a function of the kit takes: its name in what is thrown, what is right, and a call. */
const entries: Readonly<Record<string, readonly [name: string, good: object, call: (given: unknown) => unknown][]>> = {
  assertHolds: [['options', {}, (given) => untyped(kit.assertHolds)({ complete: true }, given)]],
  crashEverywhere: [['options', {}, (given) => untyped(kit.crashEverywhere)(store, main, main, given)]],
  dialectSuite: [['options', { store: main }, (given) => untyped(kit.dialectSuite)(runner, given)]],
  eventuallyFree: [['table', {}, (given) => untyped(kit.eventuallyFree)(given)]],
  exactlyOneStageWriter: [['tables', {}, (given) => untyped(kit.exactlyOneStageWriter)(given)]],
  explore: [
    ['scenario', scenario, (given) => untyped(kit.explore)(store, given)],
    ['faults', {}, (given) => untyped(kit.explore)(store, { processes, faults: given })],
    ['restarts', { count: 1 }, (given) => untyped(kit.explore)(store, { processes, faults: { restarts: given } })],
    ['failures', { count: 1 }, (given) => untyped(kit.explore)(store, { processes, faults: { failures: given } })],
    ['bounds', {}, (given) => untyped(kit.explore)(store, scenario, given)],
  ],
  exploreDeepening: [['bounds', { upTo: 1 }, (given) => untyped(kit.exploreDeepening)(store, scenario, given)]],
  fixedIdentity: [['parts', {}, (given) => untyped(kit.fixedIdentity)(given)]],
  fuzz: [
    ['scenario', scenario, (given) => untyped(kit.fuzz)(store, given)],
    ['options', {}, (given) => untyped(kit.fuzz)(store, scenario, given)],
  ],
  handlerSuite: [
    ['options', { store: main, machine }, (given) => untyped(kit.handlerSuite)(runner, given)],
    ['machine', machine, (given) => untyped(kit.handlerSuite)(runner, { store: main, machine: given })],
    ['level', {}, (given) => untyped(kit.handlerSuite)(runner, { store: main, machine, level: given })],
  ],
  invariant: [['options', {}, (given) => untyped(kit.invariant)('a rule', main, given)]],
  killEverywhere: [
    ['options', { module: 'x', recover: main, check: main }, (given) => untyped(kit.killEverywhere)(given)],
  ],
  memoryStore: [['options', {}, (given) => untyped(kit.memoryStore)(given)]],
  mysqlStore: [['options', { connect: main }, (given) => untyped(kit.mysqlStore)(given)]],
  noLeaseOutlivesItsBound: [['table', {}, (given) => untyped(kit.noLeaseOutlivesItsBound)(given)]],
  noQueuedRunOwnership: [['jobs', {}, (given) => untyped(kit.noQueuedRunOwnership)(given)]],
  postgresStore: [['options', { connect: main }, (given) => untyped(kit.postgresStore)(given)]],
  regressions: [
    ['scenario', scenario, (given) => untyped(kit.regressions)(store, given, [])],
    ['bounds', {}, (given) => untyped(kit.regressions)(store, scenario, [], given)],
  ],
  replay: [['scenario', scenario, (given) => untyped(kit.replay)(store, given, [])]],
  scheduleArbitrary: [['options', {}, (given) => untyped(kit.scheduleArbitrary)({ nat: main, array: main }, given)]],
  sqlMutants: [['bounds', {}, (given) => untyped(kit.sqlMutants)(() => store, [], given)]],
  sqliteFileStore: [['options', {}, (given) => untyped(kit.sqliteFileStore)(given)]],
};

function untyped(called: unknown): Untyped {
  return called as Untyped;
}

/** Functions that take an object of the caller's own class, or none. */
const others = [
  'Failure',
  'checkLinearizable',
  'checkSpec',
  'checkTokenOrder',
  'customStore',
  'effectAtMostOnce',
  'killable',
  'manualClock',
  'perStart',
  'powerLoss',
  'reached',
  'recordEvents',
  'tokensOnlyGrow',
];

test('every function of the kit is listed here', () => {
  const functions = Object.entries(kit).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
  expect([...Object.keys(entries), ...others].sort()).toEqual(functions.sort());
});

const each = Object.entries(entries).flatMap(([entry, all]) =>
  all.map(([name, good, call]) => ({ entry, name, good, call })),
);

test.each(each)(
  '$entry refuses $name with a name that says nothing, and what is no such object',
  async ({ name, good, call }) => {
    const thrownBy = async (given: unknown): Promise<unknown> => {
      try {
        await call(given);
      } catch (error) {
        return error;
      }
      return undefined;
    };
    const unknown = await thrownBy({ ...good, zzzzz: 1 });
    expect(unknown).toBeInstanceOf(TypeError);
    expect((unknown as Error).message).toMatch(new RegExp(`${name} has no option "zzzzz"$`));
    const wrongs: readonly unknown[] = [[], [good], new Map(), new Date(0), () => good, true, null];
    // A machine may be made anew for each life of a process.
    for (const wrong of name === 'machine' ? wrongs.filter((given) => typeof given !== 'function') : wrongs) {
      const error = await thrownBy(wrong);
      expect(error instanceof TypeError || error instanceof RangeError, String(error)).toBe(true);
      expect((error as Error).message).toContain(`${name} must be `);
    }
  },
);

test.each<[string, object, string]>([
  ['a misspelled fault', { processes, faults: { crash: 1 } }, 'faults has no option "crash"; did you mean "crashes"?'],
  [
    'a misspelled rule',
    { processes, invariants: [] },
    'scenario has no option "invariants"; did you mean "invariant"?',
  ],
  ['a check that is none', { processes, invariant: 7 }, 'invariant.check must be a function, got undefined'],
  ['a process that is none', { processes: { A: 7 } }, 'processes.A must be a function, got 7'],
])('explore refuses %s before the store is opened', async (_, given, message) => {
  await expect(untyped(kit.explore)(store, given)).rejects.toThrow(message);
});
