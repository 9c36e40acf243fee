import { createTransitionOwnership, type IdType, parseJobId, parseTaskId } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { silent } from '../rig/silent.js';

const jobs = {
  table: 'jobs',
  id: 'id',
  taskId: 'task_id',
  status: 'status',
  runId: 'run_id',
  pid: 'pid',
  startedAt: 'started_at',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
};

function ownershipOf(idType: IdType) {
  const options: unknown = {
    db: silent().db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
    lease: { taskIdType: idType },
    jobs: { ...jobs, idType },
  };
  return createTransitionOwnership(options as Parameters<typeof createTransitionOwnership>[0]) as never;
}

const LONGEST = 2n ** 63n - 1n;
const revoked = Proxy.revocable({}, {});
revoked.revoke();

describe.each([
  ['parseTaskId', 'taskId', (ownership: never, given: unknown) => parseTaskId(ownership, given)],
  ['parseJobId', 'jobId', (ownership: never, given: unknown) => parseJobId(ownership, given)],
] as const)('%s', (_, name, parse) => {
  test.each<[IdType, unknown, unknown]>([
    ['integer', 7, 7],
    ['integer', '7', 7],
    ['integer', '0', 0],
    ['integer', '-7', -7],
    ['integer', String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER],
    ['bigint', 7n, 7n],
    ['bigint', 7, 7n],
    ['bigint', '7', 7n],
    ['bigint', String(LONGEST), LONGEST],
    ['bigint', String(-LONGEST - 1n), -LONGEST - 1n],
    ['text', 'repo-1', 'repo-1'],
    ['text', ' 7 ', ' 7 '],
  ])('of %s ids takes %o', (type, given, id) => {
    expect(parse(ownershipOf(type), given)._unsafeUnwrap()).toBe(id);
  });

  const never = [undefined, null, true, {}, [], [7], new Map(), Symbol('7'), () => 7, revoked.proxy, Number.NaN, ''];
  test.each<[IdType, readonly unknown[]]>([
    [
      'integer',
      [
        ...never,
        7n,
        7.5,
        2 ** 53,
        Infinity,
        '07',
        '7 ',
        ' 7',
        '7.0',
        '1e3',
        '+7',
        '-0',
        '0x7',
        '٧',
        '9007199254740993',
      ],
    ],
    ['bigint', [...never, 7.5, 2 ** 53, '07', '7 ', '7n', String(LONGEST + 1n), LONGEST + 1n, '9'.repeat(1_000_000)]],
    ['text', [...never, 7, 7n, 'x'.repeat(256), 'a\0b', '\ud800']],
  ])('of %s ids returns invalid-id for all else, and never throws', (type, wrong) => {
    const ownership = ownershipOf(type);
    for (const given of wrong) {
      const failure = parse(ownership, given)._unsafeUnwrapErr();
      expect(failure.type).toBe('invalid-id');
      expect(failure.message).toMatch(new RegExp(`^${name} must be .*, got .*\\.$`, 's'));
      expect(Object.isFrozen(failure)).toBe(true);
    }
  });
});

test('an ownership that is none, or has no jobs, is still misuse', () => {
  const bare = createTransitionOwnership({
    db: silent().db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  });
  expect(() => parseTaskId({} as never, 7)).toThrow(/first argument must be an ownership/);
  expect(() => parseJobId(bare as never, 7)).toThrow(
    /parseJobId needs an ownership that was made with the option jobs/,
  );
});
