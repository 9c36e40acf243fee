import { type Expression, expressionBuilder, sql } from 'kysely';
import { inspectValue } from '../core/inspect-value.js';
import { unawaited } from '../core/unawaited.js';
import type { Fragment } from '../dialect/dialect.js';
import type { CallersTable } from './callers-table.js';
import type { Slots } from './statement.js';

/** The caller's columns with their values, or with expressions of Kysely's builder. */
export type Columns = Readonly<Record<string, unknown>>;

/** The caller's conditions: values by column, or one expression. */
export type Conditions = Columns | ((builder: unknown) => unknown);

/** One column of an order. */
export interface OrderTerm {
  readonly column: string;
  readonly direction: 'asc' | 'desc';
}

/** A part of a statement that the caller gave. */
export interface Part {
  /** The columns that it names. */
  readonly columns: readonly string[];
  /** Equal for parts of the same text; `undefined` where an expression makes each text its own. */
  readonly key: string | undefined;
  /** The text, with a place for each plain value. */
  fragments(places: Slots<Columns>): Fragment[];
  /** The plain values by the names of their places. */
  readonly values: Columns;
}

/** A caller's builder of expressions, or whatever else has a node of Kysely's. */
export function isExpression(value: unknown): value is Expression<unknown> {
  return typeof value === 'object' && value !== null && 'toOperationNode' in value;
}

/** What the caller's function builds; nothing at all would otherwise be NULL in a statement. */
export function built(name: string, build: (builder: unknown) => unknown): Expression<unknown> {
  const expression = unawaited(build(expressionBuilder()));
  if (!isExpression(expression))
    throw new TypeError(`${name} must return an expression, got ${inspectValue(expression)}`);
  return expression;
}

/** The caller's columns to set, in the caller's order: some databases let a later one see the earlier. */
export function assigned(table: CallersTable, set: Columns): Part {
  const columns = Object.entries(set).map(([name, given]) => {
    const value = typeof given === 'function' ? built(`set.${name}`, given as (builder: unknown) => unknown) : given;
    return [name, isExpression(value) ? table.expression(value) : value] as const;
  });
  const plain = columns.filter(([, value]) => !isExpression(value));
  return {
    columns: Object.keys(set),
    key: plain.length === columns.length ? JSON.stringify(columns.map(([name]) => name)) : undefined,
    fragments: (places) =>
      columns.map(
        ([name, value]) => sql`${table.column(name)} = ${isExpression(value) ? value : places[`set:${name}`]}`,
      ),
    values: Object.fromEntries(plain.map(([name, value]) => [`set:${name}`, value])),
  };
}

/** The caller's conditions; each must hold. */
export function matched(table: CallersTable, where: Conditions): Part {
  if (typeof where === 'function') {
    const condition = table.expression(built('where', where));
    return { columns: [], key: undefined, fragments: () => [sql`(${condition})`], values: {} };
  }
  const columns = Object.entries(where);
  const given = columns.filter(([, value]) => value !== null);
  return {
    columns: Object.keys(where),
    key: JSON.stringify(columns.map(([name, value]) => [name, value === null])),
    fragments: (places) =>
      columns.map(([name, value]) =>
        value === null ? sql`${table.column(name)} is null` : sql`${table.column(name)} = ${places[`where:${name}`]}`,
      ),
    values: Object.fromEntries(given.map(([name, value]) => [`where:${name}`, value])),
  };
}

/** No columns at all. */
export const NOTHING: Part = Object.freeze({ columns: [], key: '[]', fragments: () => [], values: {} });

/** The caller's order, with the key last so that it is total. */
export function ordered(terms: readonly OrderTerm[], key: string, spelled: (column: string) => Fragment): Fragment {
  const all = terms.some(({ column }) => column === key)
    ? terms
    : [...terms, { column: key, direction: 'asc' as const }];
  return sql.join(all.map(({ column, direction }) => sql`${spelled(column)} ${sql.raw(direction)}`));
}
