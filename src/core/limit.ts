import { inspectValue } from './inspect-value.js';

/** The most rows that one call reads. */
export const MAX_LIMIT = 100_000;

/** Throws for a number of rows that is not a whole number within the bounds. */
export function checkLimit(name: string, value: unknown, max = MAX_LIMIT): asserts value is number {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${inspectValue(value)}`);
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new RangeError(`${name} must be a whole number from 1 to ${max}, got ${inspectValue(value)}`);
  }
}
