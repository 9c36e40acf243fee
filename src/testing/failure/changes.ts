import type { Row, Snapshot } from '../store/store.js';
import { asText } from '../world/interner.js';

/** What a step did to one row. */
export interface Change {
  readonly table: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** The row, or the columns that differ with their old and new values. */
  readonly text: string;
}

/** What differs between two snapshots, row by row. */
export function changesBetween(before: Snapshot, after: Snapshot): Change[] {
  return Object.keys({ ...before, ...after })
    .filter((table) => table !== 'sqlite_sequence')
    .flatMap((table) => changesOf(table, before[table] ?? [], after[table] ?? []));
}

function changesOf(table: string, before: readonly Row[], after: readonly Row[]): Change[] {
  const removed = without(before, after);
  const added = without(after, before);
  // A row that went and one that came in one step, with one key or alike in most columns, are one row that changed.
  const changed: Change[] = [];
  for (const old of [...removed]) {
    const like = added.find((row) => likeness(old, row) >= 0.5);
    if (like === undefined) continue;
    removed.splice(removed.indexOf(old), 1);
    added.splice(added.indexOf(like), 1);
    changed.push({ table, kind: 'changed', text: difference(old, like) });
  }
  return [
    ...removed.map((row) => ({ table, kind: 'removed' as const, text: rowText(row) })),
    ...changed,
    ...added.map((row) => ({ table, kind: 'added' as const, text: rowText(row) })),
  ];
}

function without(rows: readonly Row[], others: readonly Row[]): Row[] {
  const left = others.map(asText);
  return rows.filter((row) => {
    const at = left.indexOf(asText(row));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function likeness(a: Row, b: Row): number {
  const columns = Object.keys(a);
  const [key] = columns;
  if (key !== undefined && asText(a[key]) === asText(b[key])) return 1;
  return columns.filter((column) => asText(a[column]) === asText(b[column])).length / columns.length;
}

function difference(old: Row, now: Row): string {
  const columns = Object.keys(now);
  const kept = columns.find((column) => asText(old[column]) === asText(now[column]) && now[column] !== null);
  const moved = columns
    .filter((column) => asText(old[column]) !== asText(now[column]))
    .map((column) => `${column} ${valueText(old[column])} → ${valueText(now[column])}`);
  return [...(kept === undefined ? [] : [`${kept}=${valueText(now[kept])}:`]), ...moved].join(' ');
}

const rowText = (row: Row) =>
  Object.entries(row)
    .filter(([, value]) => value !== null)
    .map(([column, value]) => `${column}=${valueText(value)}`)
    .join(' ');

/** A value without the quotes that a reader does not need. */
export const valueText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : asText(value));
