import * as library from 'transition-ownership';
import * as http from 'transition-ownership/http';
import * as migrations from 'transition-ownership/migrations';
import * as nodeSqlite from 'transition-ownership/node-sqlite';
import * as opentelemetry from 'transition-ownership/opentelemetry';
import * as postgres from 'transition-ownership/postgres';
import * as sqlite from 'transition-ownership/sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Argument, entries, nothing, ownership, values } from './entries.js';

/** Functions without an object of named parts: they take what the library gave, a failure, an id, or nothing. */
const others = [
  'NotApplied',
  'clearedRunOwnership',
  'decideEffect',
  'decideTransition',
  'defineStages',
  'describeFailure',
  'ensureSchema',
  'heartbeatOnly',
  'inspectLease',
  'judge',
  'ownedBy',
  'parseJobId',
  'parseTaskId',
  'processAndHeartbeat',
  'releaseLeases',
  'shouldDefer',
  'singleProcess',
  'snapshot',
  'toError',
  'toNodeListener',
  'toPrometheus',
];

test('every function of every entry point is listed: add a new one to entries.ts, or here', () => {
  const all = Object.entries({
    ...library,
    ...http,
    ...migrations,
    ...opentelemetry,
    ...postgres,
    ...sqlite,
    ...nodeSqlite,
  });
  const functions = all.flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
  const listed = Object.keys(entries).filter((name) => !name.includes('.'));
  expect([...listed, ...others].sort()).toEqual(functions.sort());
});

const { recoverOnStartup, sanitizeImpossibleQueued } = library;
const create = library.createTransitionOwnership as unknown as (given: object) => unknown;
const handed = (given: object) => given as never;

test.each<[wrong: string, call: () => unknown, message: string]>([
  [
    '{ dryrun: true } to recoverOnStartup',
    () => recoverOnStartup(ownership, handed({ jobs: 'all', dryrun: true })),
    'request has no option "dryrun"; did you mean "dryRun"?',
  ],
  [
    '{ dryrun: true } to sanitizeImpossibleQueued',
    () => sanitizeImpossibleQueued(ownership, handed({ dryrun: true })),
    'options has no option "dryrun"; did you mean "dryRun"?',
  ],
  [
    '{ taskids } to reclaimStaleLeases',
    () => library.reclaimStaleLeases(ownership, handed({ taskids: [1] })),
    'options has no option "taskids"; did you mean "taskIds"?',
  ],
  [
    '{ wehre } to claimNextJob',
    () => library.claimNextJob(ownership, handed({ wehre: {} })),
    'request has no option "wehre"; did you mean "where"?',
  ],
  [
    'a list to claimNextJob',
    () => library.claimNextJob(ownership, handed([])),
    'request must be an object, got an array',
  ],
  [
    '{ mod } to createTransitionOwnership',
    () => create({ db: nothing.db, tasks: {}, mod: 'off' }),
    'options has no option "mod"; did you mean "mode"?',
  ],
  [
    '{ leese } to createTransitionOwnership',
    () => create({ db: nothing.db, tasks: {}, leese: {} }),
    'options has no option "leese"; did you mean "lease"?',
  ],
  [
    '{ syncronous } to openSqlite',
    () => sqlite.openSqlite(':memory:', handed({ syncronous: 'normal' })),
    'options has no option "syncronous"; did you mean "synchronous"?',
  ],
  [
    'a name that is near none',
    () => library.claimNextJob(ownership, handed({ priority: 1 })),
    'request has no option "priority"',
  ],
])('refuses %s', (_, call, message) => {
  expect(call).toThrow(new TypeError(message));
  expect(nothing.asked).toBe(0);
});

function thrownBy({ call }: Argument, given: unknown): Error {
  let thrown: unknown;
  try {
    call(given as never);
  } catch (error) {
    thrown = error;
  }
  expect(thrown, 'nothing was thrown at once').toBeInstanceOf(Error);
  return thrown as Error;
}

const each = Object.entries(entries).flatMap(([entry, all]) =>
  all.map((argument) => [entry, argument.name, argument] as const),
);

describe.each(each)('%s: %s', (_, name, argument) => {
  let before: number;
  beforeEach(() => {
    before = nothing.asked;
    return () => expect(nothing.asked, 'a statement was sent').toBe(before);
  });

  const { good, takes, optional } = argument;
  const last = name.split('.').pop() ?? name;

  test.each(Object.entries({ 'a string': { ...good, zzzzz: 1 }, 'a symbol': { ...good, [Symbol('zzzzz')]: 1 } }))(
    'refuses a name that says nothing: %s',
    (__, given) => {
      const error = thrownBy(argument, given);
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(/ has no option ("zzzzz"|Symbol\(zzzzz\))$/);
      expect(error.message).toContain(last);
    },
  );

  test('refuses what is no object of named parts', () => {
    const wrong: unknown[] = [
      [],
      [good],
      new Map(),
      new Set(),
      new Date(0),
      () => good,
      Promise.resolve(good),
      null,
      7,
      true,
      7n,
    ];
    if (!optional) wrong.push(undefined);
    for (const given of wrong) {
      const error = thrownBy(argument, given);
      expect(error, String(given)).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(/must (?:be|name) /);
    }
  });

  test.each(Object.keys(takes))('%s: tells what was meant, and refuses each wrong type', (part) => {
    const misspelled: object = { ...good, [part.toUpperCase()]: 1 };
    expect(thrownBy(argument, misspelled).message).toContain(`did you mean "${part}"?`);
    for (const [kind, value] of Object.entries(values)) {
      if (takes[part]?.includes(kind as keyof typeof values)) continue;
      const error = thrownBy(argument, { ...good, [part]: value });
      expect(error instanceof TypeError || error instanceof RangeError, `${kind}: ${String(error)}`).toBe(true);
      expect(error.message, kind).toMatch(new RegExp(part, 'i'));
      expect(error.message).not.toMatch(/\n|Broken invariant|Cannot read/);
    }
  });

  test('reads what a class inherits to its objects', () => {
    const from = (parts: object) => Object.create(parts) as object;
    const getters = Object.fromEntries(
      Object.keys(good).map((part) => [part, { get: () => Reflect.get(good, part) as unknown }]),
    );
    const inherited = Object.defineProperties({}, getters);
    expect(thrownBy(argument, Object.assign(from(inherited), { zzzzz: 1 })).message).toContain('zzzzz');
    for (const part of Object.keys(good)) {
      const wrong = Object.entries(values).find(([kind]) => !takes[part]?.includes(kind as keyof typeof values));
      const overridden = Object.defineProperty(from(inherited), part, { get: () => wrong?.[1] });
      if (wrong !== undefined) expect(thrownBy(argument, from(overridden)).message).toMatch(new RegExp(part, 'i'));
    }
  });
});
