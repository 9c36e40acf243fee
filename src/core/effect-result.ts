import { reasonOf } from './fail.js';
import { invariant } from './invariant.js';
import { shown } from './shown.js';

/** A value that JSON can carry and give back the same. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The most characters of JSON that a result may have: every database takes them in one statement. */
export const MAX_RESULT_LENGTH = 1_000_000;

const DEEPEST = 100;

/** A result as the journal keeps it: its text, and its value as every later reader gets it. */
export type RecordableResult =
  | { readonly is: 'json'; readonly text: string; readonly value: Json }
  | { readonly is: 'refused'; readonly why: string };

/**
 * Makes the text of a result that is plain JSON; says what is in the way of any other.
 *
 * Nothing at all (`undefined`) is `null`. Whatever JSON would drop, round or rename is refused, so that the
 * first caller and all later ones get the same value: `undefined` inside, bigint, NaN, functions, symbols,
 * dates and other objects with a class, sparse arrays, cycles.
 */
export function recordable(result: unknown): RecordableResult {
  try {
    const why = obstacle(result ?? null, 'the result', []);
    if (why !== undefined) return refused(why);
    const text = JSON.stringify(result ?? null);
    if (text.length > MAX_RESULT_LENGTH) {
      return refused(`the result is ${text.length} characters of JSON, and ${MAX_RESULT_LENGTH} is the most`);
    }
    return Object.freeze({ is: 'json', text, value: readResult(text) });
  } catch (thrown) {
    return refused(`the result cannot be read: ${reasonOf(thrown)}`);
  }
}

/** The value of a result as the journal has it. */
export function readResult(text: string | null): Json {
  if (text === null) return null;
  const value: unknown = JSON.parse(text);
  invariant(isJson(value), 'a recorded result is not JSON');
  return value;
}

function isJson(value: unknown): value is Json {
  return value !== undefined;
}

const refused = (why: string): RecordableResult => Object.freeze({ is: 'refused', why });

/** What keeps a value from being plain JSON; `undefined` if nothing does. */
function obstacle(value: unknown, path: string, around: readonly object[]): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path} is ${value}`;
  if (typeof value !== 'object') return `${path} is ${shown(value)}`;
  if (around.includes(value)) return `${path} contains itself`;
  if (around.length >= DEEPEST) return `${path} is nested deeper than ${DEEPEST}`;
  const inside = [...around, value];
  if (Array.isArray(value)) return firstOf(value.keys(), (at) => obstacle(value[at], `${path}[${at}]`, inside));
  if (!isPlain(value)) return `${path} is an object of a class`;
  return firstOf(Reflect.ownKeys(value), (key) =>
    typeof key === 'symbol'
      ? `${path} has a key that is a symbol`
      : obstacle(Reflect.get(value, key), `${path}.${key}`, inside),
  );
}

function firstOf<K>(keys: Iterable<K>, find: (key: K) => string | undefined): string | undefined {
  for (const key of keys) {
    const found = find(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An object of no class, of this realm or another. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
