import { describe, expect, test } from 'vitest';
import {
  checkLinearizable,
  checkSpec,
  checkTokenOrder,
  type LeaseInput,
  type LeaseOutput,
  leaseModel,
  type Operation,
  type Spec,
} from '../../src/testing/index.js';

type History = Operation<LeaseInput, LeaseOutput>[];

const taskId = 7;
const at = (
  client: string,
  [call, ret]: readonly [number, number],
  input: LeaseInput,
  output?: LeaseOutput,
): History[number] => (output === undefined ? { client, call, ret, input } : { client, call, ret, input, output });
const acquire = (owner: string, atMs?: number): LeaseInput =>
  atMs === undefined ? { verb: 'acquire', taskId, owner } : { verb: 'acquire', taskId, owner, atMs, ttlMs: 100 };
const write = (fencingToken: number, expected: string | null, next: string): LeaseInput => ({
  verb: 'write',
  taskId,
  fencingToken,
  expected,
  next,
});
const granted = (fencingToken: number) => ({ fencingToken });

const holds = (history: History) => checkLinearizable(leaseModel, history).ok;

describe('checkLinearizable with leaseModel', () => {
  test('accepts what one after the other could have answered, though calls overlap', () => {
    expect(
      holds([
        at('B', [1, 6], acquire('B'), null),
        at('A', [2, 5], acquire('A'), granted(1)),
        at('A', [7, 8], write(1, null, 's1'), true),
      ]),
    ).toBe(true);
  });

  test('refuses a token that is granted twice', () => {
    expect(holds([at('A', [1, 2], acquire('A'), granted(1)), at('B', [3, 4], acquire('B'), granted(1))])).toBe(false);
  });

  test('refuses a take-over before the expiry and accepts one from it on', () => {
    const after = (ms: number) => [
      at('A', [1, 2], acquire('A', 1_000), granted(1)),
      at('B', [3, 4], acquire('B', 1_000 + ms), granted(2)),
    ];
    expect(holds(after(99))).toBe(false);
    expect(holds(after(100))).toBe(true);
  });

  test('refuses busy where the lease was free', () => {
    expect(
      holds([
        at('A', [1, 2], acquire('A', 0), granted(1)),
        at('A', [3, 4], { verb: 'release', taskId, fencingToken: 1 }, true),
        at('B', [5, 6], acquire('B', 10), null),
      ]),
    ).toBe(false);
  });

  test('refuses a write of an older token after a newer grant, unless the two overlapped', () => {
    const stale = (call: number) => [
      at('A', [1, 2], acquire('A'), granted(1)),
      at('B', [5, 6], acquire('B'), granted(2)),
      at('A', [call, 9], write(1, null, 's'), true),
    ];
    expect(holds(stale(7))).toBe(false);
    expect(holds(stale(4))).toBe(true);
  });

  test('lets an operation of unknown outcome have taken place or not', () => {
    const lost = at('A', [1, Number.POSITIVE_INFINITY], acquire('A', 0));
    expect(holds([lost, at('B', [2, 3], acquire('B', 1), null)])).toBe(true);
    expect(holds([lost, at('B', [2, 3], acquire('B', 1), granted(1))])).toBe(true);
  });

  test('tells the longest order that it found, and the partition at fault', () => {
    const found = checkLinearizable(leaseModel, [
      at('A', [1, 2], acquire('A'), granted(2)),
      at('B', [3, 4], acquire('B'), granted(1)),
    ]);
    expect(found).toEqual({ ok: false, longest: [0], partition: '7' });
  });
});

describe('checkTokenOrder', () => {
  test('finds nothing in a long history that is right', () => {
    const history: History = [];
    for (let token = 1; token <= 20_000; token++) {
      history.push(
        at('A', [token * 4, token * 4 + 1], acquire('A'), granted(token * 3)),
        at('A', [token * 4 + 2, token * 4 + 3], write(token * 3, 'a', 'b'), true),
      );
    }
    expect(checkTokenOrder(history)).toEqual({ ok: true, violations: [] });
  });

  test('finds a token that was granted twice, and one that was answered too early', () => {
    const twice = checkTokenOrder([
      at('A', [1, 2], acquire('A'), granted(5)),
      at('B', [3, 4], acquire('B'), granted(5)),
    ]);
    expect(twice.violations).toEqual(['task 7: token 5 was granted twice']);
    const early = checkTokenOrder([
      at('A', [1, 2], acquire('A'), granted(6)),
      at('B', [3, 4], acquire('B'), granted(5)),
    ]);
    expect(early.violations).toEqual(['task 7: token 6 was granted before a smaller token was asked for']);
  });

  test.each(['write', 'renew', 'release'] as const)('finds a stale %s that was accepted', (verb) => {
    const input = { verb, taskId, fencingToken: 1, expected: null, next: 's' } as LeaseInput;
    const history = [
      at('A', [1, 2], acquire('A'), granted(1)),
      at('B', [3, 4], acquire('B'), granted(2)),
      at('A', [5, 6], input, true),
    ];
    expect(checkTokenOrder(history).violations).toEqual([
      `task 7: ${verb} of token 1 was accepted after token 2 had been granted`,
    ]);
    expect(checkTokenOrder([...history.slice(0, 2), at('A', [5, 6], input, false)]).ok).toBe(true);
  });
});

describe('checkSpec', () => {
  const counter = (limit: number): Spec<{ n: number }> => ({
    init: () => [{ n: 0 }],
    *next({ n }) {
      if (n < 10) yield ['one more', { n: n + 1 }];
      if (n < 9) yield ['two more', { n: n + 2 }];
    },
    invariants: { small: ({ n }) => n < limit },
  });

  test('visits every state', () => {
    expect(checkSpec(counter(11))).toEqual({ states: 11, depth: 5 });
  });

  test('answers a shortest counterexample', () => {
    expect(checkSpec(counter(4))).toMatchObject({ violated: 'small', trace: ['init', 'two more', 'two more'] });
  });

  test('finds a state from which the goal is out of reach', () => {
    const spec = { ...counter(11), goal: ({ n }: { n: number }) => n === 9 };
    expect(checkSpec(spec)).toMatchObject({ stuck: true });
    expect(checkSpec({ ...spec, goal: ({ n }) => n === 10 }).stuck).toBeUndefined();
  });

  test('gives up beyond its bound', () => {
    expect(() => checkSpec(counter(11), 5)).toThrow(RangeError);
  });
});
