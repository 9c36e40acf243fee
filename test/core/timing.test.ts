import { describe, expect, test } from 'vitest';
import { MAX_DURATION_MS } from '../../src/core/duration.js';
import { requestOf } from '../../src/core/request.js';
import {
  checkRenewals,
  DEFAULT_TIMING,
  MIN_TTL_MS,
  marginMs,
  type Timing,
  timingRules,
} from '../../src/core/timing.js';

const timingOf = requestOf(timingRules, 'lease');
const check = (parts: Partial<Timing>) => () => {
  const { ttlMs, renewEveryMs } = timingOf(parts);
  checkRenewals(ttlMs, renewEveryMs);
};

describe('the times of a lease', () => {
  test('accepts the defaults: 30 s, renewed every 10 s, for an hour at most', () => {
    expect(DEFAULT_TIMING).toEqual({ ttlMs: 30_000, renewEveryMs: 10_000, maxHoldMs: 3_600_000 });
    expect(timingOf({})).toEqual(DEFAULT_TIMING);
    expect(check({})).not.toThrow();
  });

  test('accepts a TTL of exactly three renewal intervals', () => {
    expect(check({ ttlMs: 300, renewEveryMs: 100 })).not.toThrow();
  });

  test.each([
    [299, 100],
    [30_000, 30_000],
    [30_000, 20_000],
    [30_000, 10_001],
  ])('refuses ttlMs %d with renewEveryMs %d, naming both', (ttlMs, renewEveryMs) => {
    expect(check({ ttlMs, renewEveryMs })).toThrow(
      new RangeError(
        `ttlMs must be at least three times renewEveryMs, got ttlMs ${ttlMs} and renewEveryMs ${renewEveryMs}`,
      ),
    );
  });

  test('accepts a TTL of 30 days and of a year', () => {
    expect(check({ ttlMs: 30 * 86_400_000 })).not.toThrow();
    expect(check({ ttlMs: MAX_DURATION_MS })).not.toThrow();
  });

  test.each<[keyof Timing, number]>([
    ['ttlMs', 0],
    ['ttlMs', -1],
    ['ttlMs', Number.NaN],
    ['ttlMs', 1e18],
    ['ttlMs', MIN_TTL_MS - 1],
    ['renewEveryMs', 0],
    ['renewEveryMs', 9],
    ['renewEveryMs', 33.3],
    ['maxHoldMs', 0],
    ['maxHoldMs', MAX_DURATION_MS + 1],
  ])('refuses %s of %d', (name, value) => {
    expect(check({ [name]: value })).toThrow(RangeError);
    expect(check({ [name]: value })).toThrow(`${name} must be a whole number of milliseconds from`);
    expect(check({ [name]: value })).toThrow(`got ${value}`);
  });
});

describe('marginMs', () => {
  test.each([
    [150, 100],
    [1_000, 100],
    [1_010, 101],
    [30_000, 3_000],
  ])('of a TTL of %d ms is %d ms: a tenth, at least 100', (ttlMs, margin) => {
    expect(marginMs(ttlMs)).toBe(margin);
  });

  test('leaves every legal TTL some trust', () => {
    expect(MIN_TTL_MS - marginMs(MIN_TTL_MS)).toBeGreaterThan(0);
  });
});
