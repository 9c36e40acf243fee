import { defineStages } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { isLegalMove, keptStages } from '../../src/core/stages.js';

const stages = defineStages({ 'deploy-staging': ['deploy'], deploy: ['done', 'deploy-staging'], done: [] });

describe('defineStages', () => {
  test('freezes the map and each list of it', () => {
    expect(Object.isFrozen(stages)).toBe(true);
    expect(Object.values(stages).every(Object.isFrozen)).toBe(true);
    expect(stages.deploy).toEqual(['done', 'deploy-staging']);
  });

  test('refuses a move to a stage that the map does not name', () => {
    const untyped = defineStages as (map: unknown) => unknown;
    expect(() => untyped({ deploy: ['dnoe'] })).toThrow(
      new RangeError('stage "deploy" leads to "dnoe", which is not a stage of the map'),
    );
    expect(() => untyped({ deploy: ['toString'] })).toThrow(RangeError);
  });

  test.each([
    [undefined, 'stages must be an object, got undefined'],
    [null, 'stages must be an object, got null'],
    ['deploy', 'stages must be an object, got "deploy"'],
    [{ deploy: 'done', done: [] }, 'the moves from stage "deploy" must be an array, got "done"'],
    [{ deploy: null }, 'the moves from stage "deploy" must be an array, got null'],
  ])('refuses %o', (map, message) => {
    const untyped = defineStages as (map: unknown) => unknown;
    expect(() => untyped(map)).toThrow(new TypeError(message));
  });
});

describe('isLegalMove', () => {
  test.each([
    ['deploy-staging', 'deploy', true],
    ['deploy', 'deploy-staging', true],
    ['deploy-staging', 'done', false],
    ['done', 'deploy', false],
    ['deploy', 'deploy', false],
    ['nowhere', 'deploy', false],
    ['deploy', 'nowhere', false],
    ['constructor', 'deploy', false],
    ['deploy', null, false],
    [null, 'deploy', true],
    [null, 'nowhere', false],
    [null, 'constructor', false],
    [null, null, false],
  ])('from %s to %s: %s', (from, to, legal) => {
    expect(isLegalMove(stages, from, to)).toBe(legal);
  });
});

describe('keptStages', () => {
  test('is the map as it was, whatever becomes of it', () => {
    const map: Record<string, string[]> = { a: ['b'], b: [], ['__proto__']: ['a'] };
    const kept = keptStages(map);
    map['a']?.push('a');
    map['b'] = ['a'];
    expect(isLegalMove(kept, 'a', 'a')).toBe(false);
    expect(isLegalMove(kept, 'b', 'a')).toBe(false);
    expect(isLegalMove(kept, '__proto__', 'a')).toBe(true);
  });
});
