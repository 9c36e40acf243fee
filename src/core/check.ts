import { inspectValue } from './inspect-value.js';

/** Throws for a value that is not one of a closed list. */
export function checkOneOf<T extends string>(name: string, value: unknown, allowed: readonly T[]): asserts value is T {
  if (!allowed.includes(value as T)) {
    const words = allowed.map(inspectValue);
    const these = words.length === 2 ? words.join(' or ') : `one of ${words.join(', ')}`;
    throw new RangeError(`${name} must be ${these}, got ${inspectValue(value)}`);
  }
}

/** Objects of JavaScript itself that hold a value, and no parts by name. */
const BUILT_IN = /^\[object (?:Date|Promise|RegExp|Error|Weak\w+|String|Number|Boolean|\w*ArrayBuffer|DataView)\]$/;

/** Throws for what is not an object of named parts: neither a list nor a map is one, and an object of a class is. */
export function checkObject(name: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || isBuiltIn(value))
    throw new TypeError(`${name} must be an object, got ${inspectValue(value)}`);
}

function isBuiltIn(value: object): boolean {
  if (Object.getPrototypeOf(value) === Object.prototype) return false;
  return Symbol.iterator in value || BUILT_IN.test(Object.prototype.toString.call(value));
}

/** Throws for what cannot be called. */
export function checkFunction(name: string, value: unknown): asserts value is (input: unknown) => unknown {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function, got ${inspectValue(value)}`);
}

/** Throws for what is neither true nor false. */
export function checkBoolean(name: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') throw new TypeError(`${name} must be a boolean, got ${inspectValue(value)}`);
}

/** Throws for what is no number; any number will do. */
export function checkNumber(name: string, value: unknown): asserts value is number {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${inspectValue(value)}`);
}

/** Throws for what is no string; any string will do. */
export function checkString(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string, got ${inspectValue(value)}`);
}

/** Throws for what is no number of things: 0 or more, or `Infinity` for no bound. */
export function checkAmount(name: string, value: unknown): asserts value is number {
  checkNumber(name, value);
  if (!(value >= 0)) throw new RangeError(`${name} must be 0 or more, got ${inspectValue(value)}`);
}

/** Throws for what cannot abort. */
export function checkSignal(name: string, value: unknown): asserts value is AbortSignal {
  if (!(value instanceof AbortSignal))
    throw new TypeError(`${name} must be an AbortSignal, got ${inspectValue(value)}`);
}
