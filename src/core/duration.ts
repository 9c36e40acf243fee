import { inspectValue } from './inspect-value.js';

/** The longest duration that any option takes: a year. */
export const MAX_DURATION_MS = 365 * 24 * 60 * 60 * 1000;

/** Throws for a duration that is not a whole number of milliseconds within the bounds. */
export function checkDuration(
  name: string,
  value: unknown,
  minMs = 1,
  maxMs = MAX_DURATION_MS,
): asserts value is number {
  if (typeof value !== 'number')
    throw new TypeError(`${name} must be a number of milliseconds, got ${inspectValue(value)}`);
  if (!Number.isSafeInteger(value) || value < minMs || value > maxMs) {
    throw new RangeError(
      `${name} must be a whole number of milliseconds from ${minMs} to ${maxMs}, got ${inspectValue(value)}`,
    );
  }
}
