import { inspectValue } from './inspect-value.js';

/** How an id column is stored, and so what its ids are in JavaScript: `number`, `bigint` or `string`. */
export type IdType = 'integer' | 'bigint' | 'text';

/** The JavaScript value of an id of each {@link IdType}. */
export type IdValue = number | bigint | string;

/** The most UTF-8 bytes of a text id, an actor or a stage: the width of their columns on every database. */
export const MAX_TEXT_BYTES = 255;

const MAX_BIGINT = 2n ** 63n - 1n;
const LONE_SURROGATE_OR_NUL = /[\p{Surrogate}\0]/u;
const encoder = new TextEncoder();

/** Throws for text that some database would cut, merge or reject: the same on all of them. */
export function checkText(name: string, value: unknown, minLength = 1): asserts value is string {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string, got ${inspectValue(value)}`);
  if (value.length < minLength) throw new RangeError(`${name} must not be empty`);
  if (value.length * 3 > MAX_TEXT_BYTES && encoder.encode(value).length > MAX_TEXT_BYTES) {
    throw new RangeError(
      `${name} must have at most ${MAX_TEXT_BYTES} bytes of UTF-8, got ${encoder.encode(value).length}`,
    );
  }
  if (LONE_SURROGATE_OR_NUL.test(value)) {
    throw new RangeError(`${name} must have no NUL character and no lone surrogate, got ${inspectValue(value)}`);
  }
}

/** Throws for an id that is not exactly of the declared type: nothing is ever rounded or converted. */
export function checkId(name: string, type: IdType, value: unknown): asserts value is IdValue {
  if (type === 'text') {
    checkText(name, value);
  } else if (type === 'integer') {
    if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${inspectValue(value)}`);
    if (!Number.isSafeInteger(value))
      throw new RangeError(`${name} must be a safe integer, got ${inspectValue(value)}`);
  } else {
    if (typeof value !== 'bigint') throw new TypeError(`${name} must be a bigint, got ${inspectValue(value)}`);
    if (value > MAX_BIGINT || value < -MAX_BIGINT - 1n) {
      throw new RangeError(`${name} must fit 64 bits, got ${inspectValue(value)}`);
    }
  }
}
