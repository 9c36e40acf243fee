import { reasonOf } from './fail.js';
import { inspectValue } from './inspect-value.js';
import { invariant } from './invariant.js';
import { isPlain } from './plain.js';

/** A value that JSON can carry and give back the same. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The most characters of JSON that a result may have: every database takes them in one statement. */
export const MAX_RESULT_LENGTH = 1_000_000;

const DEEPEST = 100;

/** A result as the journal keeps it: its text, and its value as every later reader gets it. */
export type RecordableResult =
  | { readonly is: 'json'; readonly text: string; readonly value: Json }
  | { readonly is: 'refused'; readonly message: string };

/**
 * Makes the text of a result that is plain JSON; says what is in the way of any other.
 *
 * Nothing at all (`undefined`) is `null`. Whatever JSON would drop, round or rename is refused, so that the
 * first caller and all later ones get the same value: `undefined` inside, bigint, NaN, functions, symbols,
 * dates and other objects with a class, sparse arrays, cycles.
 */
export function recordable(result: unknown): RecordableResult {
  try {
    const why = obstacle(result ?? null, { path: [], around: [], left: MAX_RESULT_LENGTH });
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

const refused = (message: string): RecordableResult => Object.freeze({ is: 'refused', message });

/** A walk through a result: where it is, what it is inside of, and how many values it may still look at. */
interface Walk {
  readonly path: (string | number)[];
  readonly around: object[];
  /** Each value is a character of JSON at least, and one that is shared counts each time. */
  left: number;
}

/** What keeps a value from being plain JSON; `undefined` if nothing does. */
function obstacle(value: unknown, walk: Walk): string | undefined {
  walk.left -= 1;
  if (walk.left < 0) return `the result has more than ${MAX_RESULT_LENGTH} values`;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${placeOf(walk)} is ${value}`;
  if (typeof value !== 'object') return `${placeOf(walk)} is ${inspectValue(value)}`;
  if (walk.around.includes(value)) return `${placeOf(walk)} contains itself`;
  if (walk.around.length >= DEEPEST) return `${placeOf(walk)} is nested deeper than ${DEEPEST}`;
  if (!Array.isArray(value) && !isPlain(value)) return `${placeOf(walk)} is an object of a class`;
  walk.around.push(value);
  for (const key of Array.isArray(value) ? value.keys() : Reflect.ownKeys(value)) {
    if (typeof key === 'symbol') return `${placeOf(walk)} has a key that is a symbol`;
    walk.path.push(key);
    const found = obstacle(Reflect.get(value, key), walk);
    if (found !== undefined) return found;
    walk.path.pop();
  }
  walk.around.pop();
  return undefined;
}

function placeOf({ path }: Walk): string {
  return `the result${path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')}`;
}
