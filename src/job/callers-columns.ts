import { columnsOf } from '../core/columns.js';
import { inspectValue } from '../core/inspect-value.js';
import { object, oneOf, optional, text } from '../core/request.js';
import { assigned, isExpression, matched, type OrderTerm, type Part } from '../sql/callers-parts.js';
import { type JobSettings, runColumns } from '../sql/job-columns.js';

/** Throws for columns to set that are no object, have no value, or are the library's to write. */
export function checkSet(given: unknown, jobs: JobSettings, written: readonly string[]): Part {
  const set = columnsOf('set', given, 'write null');
  for (const column of Object.keys(set)) {
    const known = writtenByRequeue(jobs).find((name) => jobs.table.isSameColumn(name, column));
    if (known === undefined) continue;
    if (written.includes(known)) {
      throw new TypeError(`set must not have the column ${inspectValue(column)}: it is written by the library`);
    }
    if (known !== column) {
      throw new TypeError(
        `set must name the column ${inspectValue(known)} as the option jobs does, got ${inspectValue(column)}`,
      );
    }
  }
  return assigned(jobs.table, set);
}

/** The columns that a claim writes by itself; further columns of a run are the caller's to set. */
export function writtenByClaim(jobs: JobSettings): readonly string[] {
  return [jobs.id, jobs.status, ...runColumns({ ...jobs, alsoClear: [] })];
}

/** The columns that a return to the queue writes by itself. */
export function writtenByRequeue(jobs: JobSettings): readonly string[] {
  return [jobs.id, jobs.status, ...runColumns(jobs)];
}

/** Throws for conditions that are neither values by column nor an expression: nothing is ever left out in silence. */
export function checkWhere(where: unknown, { table }: JobSettings): Part {
  if (typeof where === 'function') return matched(table, where as (builder: unknown) => unknown);
  if (typeof where !== 'object' || where === null || Array.isArray(where) || isExpression(where)) {
    throw new TypeError(`where must be an object or a function, got ${inspectValue(where)}`);
  }
  return matched(table, columnsOf('where', where, 'ask for null'));
}

/** An order as it may be given: a column, a column with its direction, or a list of either. */
export function checkOrder(orderBy: unknown): readonly OrderTerm[] {
  const terms = Array.isArray(orderBy) ? Array.from(orderBy as readonly unknown[]) : [orderBy];
  return terms.map((term) => {
    if (typeof term !== 'string' && (typeof term !== 'object' || term === null)) {
      throw new TypeError(`orderBy must name a column, or be { column, direction }, got ${inspectValue(term)}`);
    }
    return checkTerm(typeof term === 'string' ? { column: term } : term);
  });
}

const checkTerm = object({ column: text, direction: optional(oneOf('asc', 'desc'), 'asc') })('orderBy');
