import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Since } from '../../src/opentelemetry/since.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('measures from the first beginning, or from the last one where it begins anew', () => {
  const since = new Since();
  since.begin([1, 'a']);
  vi.advanceTimersByTime(1_000);
  since.begin([1, 'a']);
  vi.advanceTimersByTime(1_000);
  expect(since.end([1, 'a'])).toBe(2_000);
  expect(since.end([1, 'a'])).toBeUndefined();
  since.begin([1, 'a']);
  vi.advanceTimersByTime(1_000);
  since.begin([1, 'a'], true);
  vi.advanceTimersByTime(500);
  expect(since.end([1, 'b'])).toBeUndefined();
  expect(since.end([1, 'a'])).toBe(500);
});

test('forgets what was not begun again in time, and no more than that', () => {
  const since = new Since(10_000);
  since.begin(['given up']);
  since.begin(['asks on']);
  vi.advanceTimersByTime(9_000);
  since.begin(['asks on']);
  vi.advanceTimersByTime(2_000);
  expect(since.end(['given up'])).toBeUndefined();
  expect(since.end(['asks on'])).toBe(11_000);
});

test('remembers ten thousand at once: the oldest goes', () => {
  const since = new Since();
  for (let each = 0; each <= 10_000; each += 1) since.begin([each]);
  expect(since.end([0])).toBeUndefined();
  expect(since.end([1])).toBe(0);
  expect(since.end([10_000])).toBe(0);
});
