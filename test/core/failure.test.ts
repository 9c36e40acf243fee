import { describeFailure, type Failure, type Holder, toError } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import * as fail from '../../src/core/fail.js';

const holder: Holder = {
  taskId: 7,
  fencingToken: 12,
  claim: 'claim',
  actor: 'monitor',
  pid: 4711,
  bootId: 'boot',
  host: 'host',
  start: 'start',
  runId: null,
  stage: 'deploy',
  acquiredAtMs: 1,
  expiresAtMs: 2,
  ttlMs: 1,
  deadlineAtMs: 3,
};
const cause = new Error('connect ECONNREFUSED');

/** Every failure, with the sentence that it carries and the paragraph for people. */
const failures: readonly (readonly [failure: Failure, message: string, advice: string])[] = [
  [
    fail.leaseBusy(7, holder, { verdict: 'live', reason: 'process-alive' }),
    'Task 7 is held by monitor (token 12, pid 4711): live, process-alive.',
    'Defer: the transition belongs to monitor (token 12, pid 4711) until it releases, expires or is proved dead.',
  ],
  [
    fail.leaseBusy('a', { ...holder, pid: null }, { verdict: 'unknown', reason: 'unreadable' }),
    'Task "a" is held by monitor (token 12): unknown, unreadable.',
    'Defer: the transition belongs to monitor (token 12) until it releases, expires or is proved dead.',
  ],
  [fail.leaseContended(7n), 'Task 7n changed hands at every try.', 'Defer, and try again later.'],
  [
    fail.notGranting('draining'),
    'No lease is granted while the mode is draining.',
    'Holders go on; ask again when the mode is on, or with another ownership.',
  ],
  [
    fail.notGranting('closed'),
    'No lease is granted: the ownership is closed.',
    'Holders go on; ask again when the mode is on, or with another ownership.',
  ],
  [
    fail.notGranting('aborted'),
    'No lease was asked for: the signal of the request had fired.',
    'Holders go on; ask again when the mode is on, or with another ownership.',
  ],
  ...(
    [
      ['superseded', 'another owner holds it now'],
      ['gone', 'its row is gone'],
      ['over-budget', 'its hold passed maxHoldMs'],
      ['unverifiable', 'no renewal could be verified in time'],
    ] as const
  ).map(
    ([reason, why]) =>
      [
        fail.leaseLost({ taskId: 7, fencingToken: 12, reason }),
        `The lease 12 on task 7 was lost: ${why}.`,
        'Stop now and start nothing irreversible; the fenced stage write fails if it comes too late.',
      ] as const,
  ),
  [
    fail.notEnoughTime(5_000, 900),
    'The lease has 900 ms left and the step needs 5000 ms.',
    'Do not start the step: the lease could end in the middle of it.',
  ],
  [
    fail.lostRace(7, 'deploy', 'done'),
    'Task 7 was expected in stage "deploy" and is in "done".',
    'Nothing was written; whoever moved the stage owns what follows.',
  ],
  [
    fail.lostRace(7, null, 'done'),
    'Task 7 was expected in stage null and is in "done".',
    'Nothing was written; whoever moved the stage owns what follows.',
  ],
  [
    fail.lostRace(7, 'deploy', 'deploy'),
    'Task 7 is in stage "deploy" as expected, and yet the write changed nothing: a trigger or rule stopped it.',
    'Nothing was written; whoever moved the stage owns what follows.',
  ],
  [fail.taskNotFound(7), 'There is no task 7.', 'Nothing was written.'],
  [
    fail.illegalTransition(7, 'done', 'deploy'),
    'Task 7 may not go from "done" to "deploy".',
    'No statement was sent; see the map given to defineStages.',
  ],
  [
    fail.handlerFailed(cause),
    'The handler threw: connect ECONNREFUSED.',
    'The lease was released; the cause is in `cause`.',
  ],
  [
    fail.handlerFailed(new Error('Is the registry down?')),
    'The handler threw: Is the registry down?',
    'The lease was released; the cause is in `cause`.',
  ],
  [fail.handlerFailed('text'), 'The handler threw: "text".', 'The lease was released; the cause is in `cause`.'],
  [
    fail.storeFailure({ kind: 'connection', retryable: true, outcome: 'unknown', cause }),
    'The store failed (connection, the outcome is unknown): connect ECONNREFUSED.',
    'The same call may succeed later.',
  ],
  [
    fail.storeFailure({ kind: 'schema', retryable: false, outcome: 'not-applied', cause: null }),
    'The store failed (schema, nothing was applied): null.',
    'The tables are not as the statement needs them: ensureSchema makes those of the library, the options name yours; the cause is in `cause`.',
  ],
  [
    fail.storeFailure({ kind: 'constraint', retryable: false, outcome: 'not-applied', cause: null }),
    'The store failed (constraint, nothing was applied): null.',
    'Trying again will not help before the cause, in `cause`, is mended.',
  ],
  [
    fail.tokenMismatch(holder, 11),
    'Token 11 does not hold the task: monitor (token 12, pid 4711) does.',
    'Nothing was released; look again and name the present token if that one is meant.',
  ],
  [
    fail.invalidId('taskId must be a safe integer, got null.'),
    'taskId must be a safe integer, got null.',
    'Nothing was looked up; reject the request of whoever sent it.',
  ],
  [fail.alreadyFree(7), 'Task 7 is held by no one.', 'There is nothing to release.'],
  [
    fail.effectUnknown({ taskId: 7, effect: 'merge_pr', key: 'c0ffee', since: 1 }, 'nobody can be asked'),
    'Whether "merge_pr" ("c0ffee") of task 7 was applied is not known: nobody can be asked.',
    'Look in the outside system, then say what you saw with resolveEffect; it is not repeated on a guess.',
  ],
  [
    fail.effectUnrecorded({
      taskId: 7,
      effect: 'merge_pr',
      key: 'c0ffee',
      value: { sha: 'f00' },
      cause: fail.storeFailure({ kind: 'connection', retryable: true, outcome: 'not-applied', cause }),
    }),
    '"merge_pr" ("c0ffee") of task 7 was applied, and could not be recorded: The store failed (connection, nothing was applied): connect ECONNREFUSED.',
    'It happened: do not do it by other means. Run it again in this process, which only writes it down; if this process ends first, say it with resolveEffect.',
  ],
  [
    fail.effectFailed(cause),
    'The effect was not applied: connect ECONNREFUSED.',
    'It certainly did nothing and may be tried again; the cause is in `cause`.',
  ],
];

/** Every type that there is: one that is added and not told here does not compile. */
const types: Readonly<Record<Failure['type'], true>> = {
  'lease-busy': true,
  'not-granting': true,
  'lease-lost': true,
  'not-enough-time': true,
  'lost-race': true,
  'task-not-found': true,
  'illegal-transition': true,
  'handler-failed': true,
  'effect-unknown': true,
  'effect-failed': true,
  'effect-unrecorded': true,
  'token-mismatch': true,
  'already-free': true,
  'invalid-id': true,
  'store-failure': true,
};

test('every type of failure is told', () => {
  expect(new Set(failures.map(([{ type }]) => type))).toEqual(new Set(Object.keys(types)));
});

describe('a failure', () => {
  test.each(failures)('%o is frozen, and says in one sentence: %s', (failure, message) => {
    expect(failure.message).toBe(message);
    expect(Object.isFrozen(failure)).toBe(true);
  });
});

describe('the message of a cause', () => {
  test.each([
    ['two lines', new Error('first\n  second'), 'first second.'],
    [
      'a code alone, as of a refused connection',
      Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED.',
    ],
    ['a name alone', new RangeError(''), 'RangeError.'],
    ['blanks', '  ', '"  ".'],
  ])('%s is one sentence', (_, given, sentence) => {
    expect(fail.handlerFailed(given).message).toBe(`The handler threw: ${sentence}`);
  });
});

describe('describeFailure', () => {
  test.each(failures)('%o: its message, and what to do', (failure, message, advice) => {
    expect(describeFailure(failure)).toBe(`${message} ${advice}`);
  });
});

describe('toError', () => {
  test.each(failures)('%o becomes an Error of its name', (failure, message) => {
    const error = toError(failure);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: failure.type, message, failure });
    expect(error.cause).toBe('cause' in failure ? failure.cause : undefined);
    expect(error.stack).toContain('failure.test');
  });
});

describe('a failure given to JSON.stringify', () => {
  test.each(failures)('%o is plain JSON', (failure) => {
    expect(JSON.parse(JSON.stringify(failure))).toMatchObject({ type: failure.type, message: failure.message });
  });

  test.each([
    ['the id of a task', fail.taskNotFound(7n), { taskId: '7' }],
    [
      'the ids of a holder',
      fail.tokenMismatch({ ...holder, taskId: 7n, runId: 2n ** 60n }, 11),
      { holder: { taskId: '7', runId: '1152921504606846976' } },
    ],
    [
      'what a handler returned',
      fail.withValue(fail.leaseLost({ taskId: 7n, fencingToken: 1, reason: 'gone' }), [8n]),
      { taskId: '7', value: ['8'] },
    ],
    [
      'an error, and one within a failure',
      fail.handlerFailed(fail.handlerFailed(Object.assign(new Error('down'), { code: 'E', id: 8n }))),
      { cause: { cause: { name: 'Error', message: 'down', code: 'E' } } },
    ],
    ['what contains itself', fail.handlerFailed(circular()), { cause: 'something that JSON cannot carry' }],
  ])('spells %s', (_, failure, spelled) => {
    expect(JSON.parse(JSON.stringify({ failure }))).toMatchObject({ failure: spelled });
    expect(Object.keys(failure)).not.toContain('toJSON');
  });
});

function circular(): object {
  const one: { self?: object } = {};
  one.self = one;
  return one;
}

test('a loss that carries what the handler returned keeps everything else', () => {
  const lost = fail.leaseLost({ taskId: 7, fencingToken: 12, reason: 'superseded', holder });
  expect(fail.withValue(lost, 42)).toEqual({ ...lost, value: 42 });
  expect(Object.isFrozen(fail.withValue(lost, 42))).toBe(true);
  expect('value' in lost).toBe(false);
  expect('holder' in fail.leaseLost({ taskId: 7, fencingToken: 12, reason: 'gone' })).toBe(false);
});
