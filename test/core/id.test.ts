import { describe, expect, test } from 'vitest';
import { checkDuration, MAX_DURATION_MS } from '../../src/core/duration.js';
import { checkId, checkText, type IdType } from '../../src/core/id.js';
import { checkLimit, MAX_LIMIT } from '../../src/core/limit.js';

const check = (type: IdType, value: unknown) => () => checkId('taskId', type, value);

describe('checkId accepts', () => {
  test.each<[IdType, unknown]>([
    ['integer', 0],
    ['integer', -1],
    ['integer', Number.MAX_SAFE_INTEGER],
    ['integer', Number.MIN_SAFE_INTEGER],
    ['bigint', 0n],
    ['bigint', 2n ** 63n - 1n],
    ['bigint', -(2n ** 63n)],
    ['text', 'a'],
    ['text', 'a '],
    ['text', ' '],
    ['text', 'A'],
    ['text', '0'],
    ['text', '666.0'],
    ['text', '3F2504E0-4F89-11D3-9A0C-0305E82C3301'],
    ['text', 'déploiement-🚀'],
    ['text', 'x'.repeat(255)],
    ['text', 'é'.repeat(127)],
    ['text', "x'; drop table tasks; --"],
  ])('%s %s', (type, value) => {
    expect(check(type, value)).not.toThrow();
  });
});

describe('checkId refuses, and never converts or rounds', () => {
  test.each<[IdType, unknown, ErrorConstructor, string]>([
    ['integer', '1', TypeError, 'taskId must be a number, got "1"'],
    ['integer', 1n, TypeError, 'taskId must be a number, got 1n'],
    ['integer', undefined, TypeError, 'taskId must be a number, got undefined'],
    ['integer', null, TypeError, 'taskId must be a number, got null'],
    ['integer', true, TypeError, 'taskId must be a number, got true'],
    ['integer', [1], TypeError, 'taskId must be a number, got an array'],
    ['integer', { id: 1 }, TypeError, 'taskId must be a number, got an object'],
    ['integer', 1.5, RangeError, 'taskId must be a safe integer, got 1.5'],
    ['integer', 2 ** 53, RangeError, 'taskId must be a safe integer, got 9007199254740992'],
    ['integer', Number.NaN, RangeError, 'taskId must be a safe integer, got NaN'],
    ['integer', Number.POSITIVE_INFINITY, RangeError, 'taskId must be a safe integer, got Infinity'],
    ['bigint', 1, TypeError, 'taskId must be a bigint, got 1'],
    ['bigint', '1', TypeError, 'taskId must be a bigint, got "1"'],
    ['bigint', 2n ** 63n, RangeError, 'taskId must fit 64 bits, got 9223372036854775808n'],
    ['bigint', -(2n ** 63n) - 1n, RangeError, 'taskId must fit 64 bits, got -9223372036854775809n'],
    ['text', 7, TypeError, 'taskId must be a string, got 7'],
    ['text', 0, TypeError, 'taskId must be a string, got 0'],
    ['text', 7n, TypeError, 'taskId must be a string, got 7n'],
    ['text', undefined, TypeError, 'taskId must be a string, got undefined'],
    ['text', () => 'a', TypeError, 'taskId must be a string, got a function'],
    ['text', '', RangeError, 'taskId must not be empty'],
    ['text', 'x'.repeat(256), RangeError, 'taskId must have at most 255 bytes of UTF-8, got 256'],
    ['text', 'é'.repeat(128), RangeError, 'taskId must have at most 255 bytes of UTF-8, got 256'],
    ['text', '🚀'.repeat(64), RangeError, 'taskId must have at most 255 bytes of UTF-8, got 256'],
    ['text', 'a\0b', RangeError, 'taskId must have no NUL character and no lone surrogate, got "a\\u0000b"'],
    ['text', 'a\ud800', RangeError, 'taskId must have no NUL character and no lone surrogate, got "a\\ud800"'],
  ])('%s %s', (type, value, kind, message) => {
    expect(check(type, value)).toThrow(new kind(message));
  });

  test('a long text is shown cut short', () => {
    expect(check('integer', 'x'.repeat(300))).toThrow(`got "${'x'.repeat(77)}..."`);
  });
});

describe('checkText', () => {
  test('takes an empty text where one may be empty', () => {
    expect(() => checkText('stage', '', 0)).not.toThrow();
    expect(() => checkText('actor', '')).toThrow(new RangeError('actor must not be empty'));
  });
});

describe('checkDuration', () => {
  test.each([1, 1_000, MAX_DURATION_MS])('accepts %d ms', (ms) => {
    expect(() => checkDuration('ttlMs', ms)).not.toThrow();
  });

  test.each([0, -1, Number.NaN, 1.5, Number.POSITIVE_INFINITY, MAX_DURATION_MS + 1, 1e18])('refuses %d ms', (ms) => {
    expect(() => checkDuration('ttlMs', ms)).toThrow(
      new RangeError(`ttlMs must be a whole number of milliseconds from 1 to ${MAX_DURATION_MS}, got ${ms}`),
    );
  });

  test('refuses what is no number', () => {
    expect(() => checkDuration('ttlMs', '30s')).toThrow(
      new TypeError('ttlMs must be a number of milliseconds, got "30s"'),
    );
  });
});

describe('checkLimit', () => {
  test.each([1, MAX_LIMIT])('accepts %d', (limit) => {
    expect(() => checkLimit('limit', limit)).not.toThrow();
  });

  test.each([0, -1, 1.5, Number.NaN, MAX_LIMIT + 1])('refuses %d', (limit) => {
    expect(() => checkLimit('limit', limit)).toThrow(
      new RangeError(`limit must be a whole number from 1 to ${MAX_LIMIT}, got ${limit}`),
    );
  });

  test('refuses what is no number', () => {
    expect(() => checkLimit('limit', 10n)).toThrow(new TypeError('limit must be a number, got 10n'));
  });
});
