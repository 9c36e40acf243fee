import { runEffect } from 'transition-ownership';
import { expect } from 'vitest';
import { ok, type Proofs } from '../rig/proofs.js';
import { begin, journal } from './outside.js';

class Merge {
  readonly sha = 'c0ffee';
}

const looped: Record<string, unknown> = { sha: 'c0ffee' };
looped['self'] = looped;
const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)]);
/** Small in memory, and of 2^60 values when it is written down. */
const shared = Array.from({ length: 60 }).reduce<unknown>((inside) => [inside, inside], 1);
const throwing = {
  get sha(): string {
    throw new Error('gone');
  },
};

/** Values that JSON would drop, round, rename or refuse, and what is said of each. */
const REFUSED: readonly (readonly [result: unknown, why: string])[] = [
  [10n, 'the result is 10n'],
  [Number.NaN, 'the result is NaN'],
  [Number.POSITIVE_INFINITY, 'the result is Infinity'],
  [Symbol('sha'), 'the result is Symbol(sha)'],
  [() => 'sha', 'the result is a function'],
  [new Date(0), 'the result is an object of a class'],
  [new Map([['sha', 1]]), 'the result is an object of a class'],
  [new Merge(), 'the result is an object of a class'],
  [{ sha: undefined }, 'the result.sha is undefined'],
  [{ shas: ['a', 5n] }, 'the result.shas[1] is 5n'],
  [[1, , 3], 'the result[1] is undefined'],
  [{ [Symbol('sha')]: 1 }, 'the result has a key that is a symbol'],
  [{ toJSON: () => 'other' }, 'the result.toJSON is a function'],
  [looped, 'the result.self contains itself'],
  [deep(101), 'is nested deeper than 100'],
  [shared, 'the result has more than 1000000 values'],
  [throwing, 'the result cannot be read: gone'],
  ['x'.repeat(1_000_001), 'the result is 1000003 characters of JSON, and 1000000 is the most'],
];

/** Values that come back the same. */
const KEPT: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  '',
  'a "quoted" \u0000 text with \ud800 in it, and 漢字',
  [],
  {},
  [[1, 'two'], { three: null }],
  { sha: 'c0ffee', at: 1_700_000_000_000, parents: ['a', 'b'], ['__proto__x']: 1 },
  Object.assign(Object.create(null) as object, { sha: 'c0ffee' }),
  deep(90),
  'x'.repeat(999_998),
];

/** What is kept of the result of an effect. */
export const results: Proofs = {
  'a result of plain JSON is answered the same now and ever after': async (rig) => {
    const a = rig.start('a');
    const { own, lease } = await begin(a);
    for (const [at, result] of KEPT.entries()) {
      const merging = { effect: 'merge_pr', key: `${at}`, apply: () => result as string };
      const now = await ok(runEffect(own, lease, merging));
      const later = await ok(runEffect(own, lease, merging));
      expect(now).toEqual({ status: 'applied', value: result });
      expect(later).toEqual({ status: 'already-applied', value: result });
    }
    expect(a.told('effect.applied').map(({ unrecorded }) => unrecorded)).toEqual(KEPT.map(() => null));
  },

  'an apply that returns nothing has the result null': async (rig) => {
    const a = rig.start('a');
    const { own, lease } = await begin(a);
    const merging = { effect: 'merge_pr', key: 'c0ffee', apply: () => {} };
    expect(await ok(runEffect(own, lease, merging))).toEqual({ status: 'applied', value: null });
    expect(journal(rig)).toMatchObject([{ state: 'applied', result: 'null' }]);
  },

  'the answer of the first call is a copy: what the caller does to it later is not in the journal': async (rig) => {
    const a = rig.start('a');
    const { own, lease } = await begin(a);
    const result = { sha: 'c0ffee' };
    const merging = { effect: 'merge_pr', key: 'c0ffee', apply: () => result };
    const { value } = await ok(runEffect(own, lease, merging));
    result.sha = 'changed';
    expect(value).toEqual({ sha: 'c0ffee' });
  },

  'a result that is not plain JSON is kept as null, and told: the effect was applied all the same': async (rig) => {
    const a = rig.start('a');
    const { own, lease } = await begin(a);
    for (const [at, [result, why]] of REFUSED.entries()) {
      const merging = { effect: 'merge_pr', key: `${at}`, apply: () => result as string };
      const now = await ok(runEffect(own, lease, merging));
      expect(now).toEqual({ status: 'applied', value: null, unrecorded: expect.stringContaining(why) as string });
      expect(await ok(runEffect(own, lease, merging))).toEqual({ status: 'already-applied', value: null });
      expect(a.told('effect.applied').at(-1)).toMatchObject({ unrecorded: now.unrecorded });
    }
    expect(journal(rig).every(({ state, result }) => state === 'applied' && result === 'null')).toBe(true);
  },
};
