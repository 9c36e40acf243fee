import { inspectValue } from './inspect-value.js';
import { isPlain } from './plain.js';

/**
 * The columns that a caller named with their values, as they are at this moment: what becomes of its object later
 * reaches no statement.
 *
 * Whatever would be left out in silence is refused: the entries of a map, the accessors of a class, symbols, `undefined`.
 */
export function columnsOf(name: string, given: unknown, instead: string): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || !isPlain(given) || Object.getOwnPropertySymbols(given).length > 0)
    throw new TypeError(`${name} must be an object of columns, got ${inspectValue(given)}`);
  const columns: Readonly<Record<string, unknown>> = Object.freeze({ ...given });
  for (const [column, value] of Object.entries(columns)) {
    if (value === undefined) throw new TypeError(`${name}.${column} is undefined: leave it out, or ${instead}`);
  }
  return columns;
}
