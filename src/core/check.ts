import type { IdType } from './id.js';
import { shown } from './shown.js';

/** Refuses a value that is not one of a closed list. */
export function checkOneOf<T extends string>(name: string, value: unknown, allowed: readonly T[]): asserts value is T {
  if (!allowed.includes(value as T)) {
    throw new RangeError(`${name} must be one of ${allowed.map(shown).join(', ')}, got ${shown(value)}`);
  }
}

/** Refuses what is not an object of named parts: a list is none either. */
export function checkObject(name: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`${name} must be an object, got ${shown(value)}`);
}

/** Refuses what cannot be called. */
export function checkFunction(name: string, value: unknown): asserts value is (input: unknown) => unknown {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function, got ${shown(value)}`);
}

const ID_TYPES: readonly IdType[] = ['integer', 'bigint', 'text'];

/** Refuses a kind of id that there is not. */
export function checkIdType(name: string, value: unknown): asserts value is IdType {
  checkOneOf(name, value, ID_TYPES);
}
