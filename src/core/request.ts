import {
  checkAmount,
  checkBoolean,
  checkFunction,
  checkNumber,
  checkObject,
  checkOneOf,
  checkSignal,
  checkString,
} from './check.js';
import { checkDuration, MAX_DURATION_MS } from './duration.js';
import { checkId, checkText, type IdType, type IdValue } from './id.js';
import { inspectValue } from './inspect-value.js';
import { checkLimit, MAX_LIMIT } from './limit.js';
import { nearest } from './nearest.js';

/** What the ids of an ownership are. */
export interface IdTypes {
  readonly taskIdType: IdType;
  readonly runIdType: IdType;
  readonly jobs?: { readonly idType: IdType } | undefined;
}

/** Returns a value that is as it should be, an object as a copy of what it was at this moment; else throws. */
export type Check<T> = (value: unknown, ids?: IdTypes) => T;

/** How a value of some name is checked. */
export type Rule<T> = (name: string) => Check<T>;

/** A rule for what may be left out; `undefined` is left out. */
export interface Optional<T> extends Rule<T> {
  readonly optional: true;
}

/** A rule for what code of its own looks at. */
export interface Given extends Rule<unknown> {
  readonly given: true;
}

/**
 * The rules of a request: a name that is missing, or one too many, does not compile. To add an option, add it to its
 * public type and, beside it, its rule; the misuse test of all entries then finds it by itself.
 */
export type RulesOf<T> = {
  readonly [Name in keyof T]-?:
    | Given
    | (object extends Pick<T, Name> ? Optional<Kind<T[Name]> | undefined> : Rule<Kind<T[Name]>>);
};

/** A value as far as a rule knows: what a function returns and what an object consists of is tied elsewhere. */
type Kind<V> = V extends (...given: never[]) => unknown
  ? (...given: never[]) => unknown
  : V extends string | readonly unknown[]
    ? V
    : V extends object
      ? object
      : V;

type Rules = Readonly<Record<string, Rule<unknown>>>;

/** A request after its check. */
export type Checked<R extends Rules> = { readonly [Name in keyof R]: R[Name] extends Rule<infer T> ? T : never };

/** A rule made of a check that throws. */
export function by<T>(check: (name: string, value: unknown) => asserts value is T): Rule<T> {
  return (name) => (value) => {
    const checked: typeof check = check;
    checked(name, value);
    return value;
  };
}

const idOf =
  (kind: string, typeOf: (ids: IdTypes) => IdType | undefined): Rule<IdValue> =>
  (name) =>
  (value, ids) => {
    const type = ids && typeOf(ids);
    if (type === undefined) throw new TypeError(`Broken invariant: nobody said what ${kind} ids are`);
    checkId(name, type, value);
    return value;
  };

export const taskId = idOf('task', (ids) => ids.taskIdType);
export const runId = idOf('run', (ids) => ids.runIdType);
export const jobId = idOf('job', (ids) => ids.jobs?.idType);
export const string: Rule<string> = by(checkString);
export const token: Rule<number> = by((name, value): asserts value is number => checkId(name, 'integer', value));
export const text: Rule<string> = by(checkText);
export const stage: Rule<string> = by((name, value): asserts value is string => checkText(name, value, 0));
export const boolean: Rule<boolean> = by(checkBoolean);
export const number: Rule<number> = by(checkNumber);
export const amount: Rule<number> = by(checkAmount);
export const callable: Rule<(input: unknown) => unknown> = by(checkFunction);
export const signal: Rule<AbortSignal> = by(checkSignal);
export const idType: Rule<IdType> = oneOf('integer', 'bigint', 'text');
export const given: Given = Object.assign(() => (value: unknown) => value, { given: true } as const);

/** A duration in ms within bounds. */
export function duration(minMs = 1, maxMs = MAX_DURATION_MS): Rule<number> {
  return by((name, value): asserts value is number => checkDuration(name, value, minMs, maxMs));
}

/** A number of rows, or of tries. */
export function limit(max = MAX_LIMIT): Rule<number> {
  return by((name, value): asserts value is number => checkLimit(name, value, max));
}

/** One word of a closed list. */
export function oneOf<T extends string>(...allowed: readonly T[]): Rule<T> {
  return by((name, value): asserts value is T => checkOneOf(name, value, allowed));
}

/** What may be left out, with what then stands in its place. */
export function optional<T>(rule: Rule<T>): Optional<T | undefined>;
export function optional<T>(rule: Rule<T>, fallback: T): Optional<T>;
export function optional<T>(rule: Rule<T>, fallback?: T): Optional<T | undefined> {
  const bound: Rule<T | undefined> = (name) => {
    const check = rule(name);
    return (value, ids) => (value === undefined ? fallback : check(value, ids));
  };
  return Object.assign(bound, { optional: true } as const);
}

/** What may be `null`. */
export function nullable<T>(rule: Rule<T>): Rule<T | null> {
  return (name) => {
    const check = rule(name);
    return (value, ids) => (value === null ? null : check(value, ids));
  };
}

/** An array, kept as it is at this moment; a hole in it is an item too. */
export function list<T>(rule: Rule<T>): Rule<readonly T[]> {
  return (name) => {
    const check = rule(`${name}[]`);
    return (value, ids) => {
      if (!Array.isArray(value)) throw new TypeError(`${name} must be an array, got ${inspectValue(value)}`);
      return Object.freeze(Array.from(value as readonly unknown[], (item) => check(item, ids)));
    };
  };
}

/** An object with these names, and no others. */
export function object<R extends Rules>(rules: R): Rule<Checked<R>> {
  return (name) => bind(name, `${name}.`, rules);
}

/** An object that may be left out, as if it said nothing. */
export function options<R extends Rules>(rules: R): Optional<Checked<R>> {
  const bound: Rule<Checked<R>> = (name) => {
    const check = bind(name, `${name}.`, rules);
    return (value, ids) => check(value === undefined ? {} : value, ids);
  };
  return Object.assign(bound, { optional: true } as const);
}

/** The one object that a function takes: its parts go by their bare names in what is thrown. */
export function requestOf<R extends Rules>(rules: R, name = 'request'): Check<Checked<R>> {
  return bind(name, '', rules);
}

function bind<R extends Rules>(name: string, prefix: string, rules: R): Check<Checked<R>> {
  const checks = Object.entries(rules).map(([part, rule]) => ({ part, check: rule(`${prefix}${part}`) }));
  const known = new Set(Object.keys(rules));
  // Copied as a whole first: objects that get their parts one by one are slow, and requests are checked at every call.
  const empty: Readonly<Record<string, unknown>> = { ...rules };
  return (value, ids) => {
    checkObject(name, value);
    checkNames(name, value, known);
    const parts: Record<string, unknown> = { ...empty };
    for (const { part, check } of checks) parts[part] = check((value as typeof empty)[part], ids);
    return parts as Checked<R>;
  };
}

/** Throws for names that say nothing here. Own ones: what a class has for all its objects is no request. */
function checkNames(name: string, value: object, known: ReadonlySet<string>): void {
  for (const part in value) if (!known.has(part) && Object.hasOwn(value, part)) throw hasNo(name, part, known);
  for (const part of Object.getOwnPropertySymbols(value)) {
    if (Object.prototype.propertyIsEnumerable.call(value, part)) throw hasNo(name, part, known);
  }
}

function hasNo(name: string, part: string | symbol, known: ReadonlySet<string>): TypeError {
  const meant = typeof part === 'string' ? nearest(part, [...known]) : undefined;
  return new TypeError(
    `${name} has no option ${inspectValue(part)}${meant ? `; did you mean ${inspectValue(meant)}?` : ''}`,
  );
}
