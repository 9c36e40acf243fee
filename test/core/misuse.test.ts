import {
  assessRunningJob,
  createTransitionOwnership,
  decideEffect,
  decideTransition,
  defineStages,
  describeFailure,
  judge,
  processAndHeartbeat,
  sqliteDialect,
  toError,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';

type Untyped = (...given: unknown[]) => unknown;
type Refusal = [name: string, call: Untyped, given: readonly unknown[], kind: ErrorConstructor, message: string];

const untyped = (function_: unknown) => function_ as Untyped;
const limits = { deadTicks: 2, finalizeGraceMs: 0, maxRunningMs: 1 };
const free = { type: 'already-free', message: 'Task 7 is held by no one.' };

function refuses(call: Untyped, given: readonly unknown[], kind: ErrorConstructor, message: string): void {
  let thrown: unknown;
  try {
    call(...given);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(kind);
  expect((thrown as Error).message).toBe(message);
}

describe('a pure function refuses in one sentence', () => {
  test.each<Refusal>([
    ['describeFailure nothing', untyped(describeFailure), [], TypeError, 'failure must be an object, got undefined'],
    [
      'describeFailure a failure of somebody else’s',
      untyped(describeFailure),
      [{ type: 'mine', message: 'No.' }],
      TypeError,
      'failure must be one of this library’s, got the type "mine"',
    ],
    ['toError text', untyped(toError), ['already-free'], TypeError, 'failure must be an object, got "already-free"'],
    ['toError a list', untyped(toError), [[]], TypeError, 'failure must be an object, got an array'],
    [
      'toError a failure without a message',
      untyped(toError),
      [{ type: 'already-free' }],
      TypeError,
      'failure.message must be a string, got undefined',
    ],
    ['defineStages a list', untyped(defineStages), [[]], TypeError, 'stages must be an object, got an array'],
    ['judge nobody', untyped(judge), [], TypeError, 'holder must be an object, got undefined'],
    ['judge without evidence', untyped(judge), [{}, 7], TypeError, 'observation must be an object, got 7'],
    [
      'judge without a judge',
      untyped(judge),
      [{}, {}],
      TypeError,
      'liveness must be a function, or have a function judge, got undefined',
    ],
    ['assessRunningJob nothing', untyped(assessRunningJob), [], TypeError, 'evidence must be an object, got undefined'],
    [
      'assessRunningJob without a process',
      untyped(assessRunningJob),
      [{ pid: 7 }],
      RangeError,
      'process must be one of "alive", "dead", "unknown", got undefined',
    ],
    [
      'decideEffect a state that there is not',
      untyped(decideEffect),
      ['begun', 'absent'],
      RangeError,
      'state must be one of "never-started", "started", "applied", got "begun"',
    ],
    [
      'decideEffect evidence that there is not',
      untyped(decideEffect),
      ['started', 'maybe'],
      RangeError,
      'evidence must be one of "applied", "not-applied", "unknown", "absent", got "maybe"',
    ],
    ['decideTransition text', untyped(decideTransition), ['hold'], TypeError, 'decisions must be an array, got "hold"'],
  ])('%s', (_, call, given, kind, message) => refuses(call, given, kind, message));

  test('and takes what is right all the same', () => {
    expect(untyped(describeFailure)(free)).toContain('held by no one');
    expect(untyped(toError)({ type: 'mine', message: 'No.' })).toMatchObject({ name: 'mine', message: 'No.' });
    expect(() => judge({} as never, {} as never, processAndHeartbeat())).not.toThrow();
    const evidence = { pid: 7, process: 'alive', deadTicks: 0, deadForMs: 0, runningForMs: 0, lease: 'none' } as const;
    expect(() => assessRunningJob(evidence, limits)).not.toThrow();
  });
});

describe('createTransitionOwnership refuses', () => {
  const usual = { db: {}, tasks: { table: 'tasks', id: 'id', stage: 'stage' } };
  const handle = { withoutPlugins: () => handle, getExecutor: () => ({ plugins: [] }), isTransaction: false };
  const { nowMs: _, ...withoutClock } = sqliteDialect;
  const identity = { bootId: 'boot', pid: 7, start: null, host: 'host' };
  const clock = {
    monotonicMs: () => 0,
    wallMs: () => 0,
    sleep: async () => {},
    schedule: () => ({ cancel: () => {} }),
  };

  test.each<[name: string, option: object, kind: ErrorConstructor, message: string]>([
    [
      'no dialect at all',
      { dialect: null },
      RangeError,
      'dialect must be "sqlite", "postgres", "mysql" or a Dialect, got null',
    ],
    [
      'a dialect that is not whole',
      { dialect: withoutClock },
      TypeError,
      'dialect must be a whole Dialect: it has no nowMs',
    ],
    ['a mode that is null', { mode: null }, RangeError, 'mode must be "on", "observe", "draining" or "off", got null'],
    [
      'a format of times that is null',
      { timeFormat: null },
      RangeError,
      'timeFormat must be one of "sqlite-text", "sqlite-seconds", "iso", "epoch-ms", "native", got null',
    ],
    [
      'a transaction, which ends before what is taken in it',
      { db: { ...handle, isTransaction: true } },
      TypeError,
      'db must be the Kysely itself, not a transaction: give that to ownership.using',
    ],
    ['a lease option that is a list', { lease: [] }, TypeError, 'lease must be an object, got an array'],
    ['an identity that is none', { identity: 'me' }, TypeError, 'identity must be an object, got "me"'],
    [
      'an identity without a boot',
      { identity: { ...identity, bootId: 7 } },
      TypeError,
      'identity.bootId must be a string, got 7',
    ],
    [
      'an identity without a pid',
      { identity: { ...identity, pid: '7' } },
      TypeError,
      'identity.pid must be a number, got "7"',
    ],
    [
      'an identity without a host',
      { identity: { ...identity, host: null } },
      TypeError,
      'identity.host must be a string, got null',
    ],
    [
      'an identity with a start mark that is none',
      { identity: { ...identity, start: 7 } },
      TypeError,
      'identity.start must be a string or null, got 7',
    ],
    ['a clock that is none', { clock: Date }, TypeError, 'clock must be an object, got a function'],
    [
      'a clock that cannot sleep',
      { clock: { ...clock, sleep: 1 } },
      TypeError,
      'clock.sleep must be a function, got 1',
    ],
    ['a table of processes that is null', { processes: null }, TypeError, 'processes must be an object, got null'],
    [
      'a table of processes that sees none',
      { processes: {} },
      TypeError,
      'processes.sight must be a function, got undefined',
    ],
    ['a registry that is no map', { registry: {} }, TypeError, 'registry.get must be a function, got undefined'],
    [
      'chance that makes no claims',
      { randomness: {} },
      TypeError,
      'randomness.claim must be a function, got undefined',
    ],
  ])('%s', (__, option, kind, message) => {
    refuses(
      untyped(createTransitionOwnership),
      [{ ...usual, db: handle, dialect: 'sqlite', ...option }],
      kind,
      message,
    );
  });
});
