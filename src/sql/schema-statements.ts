import { type CompiledQuery, type QueryExecutorProvider, sql } from 'kysely';
import type { Dialect, Fragment, NamedTable } from '../dialect/dialect.js';
import type { TableShape } from '../dialect/table-shape.js';
import { tableName } from './tables.js';

/** One of the library's own tables, where it is and what it looks like. */
export interface OwnTable extends NamedTable {
  readonly shape: TableShape;
  /** The columns that the table has had in every shape: another table of the same name lacks some. */
  readonly always: readonly string[];
  /** What a row from before a column existed gets there; a column without an entry gets NULL. */
  readonly backfill: Readonly<Record<string, Fragment>>;
}

/** The columns of a table, as the database lists them. */
export function readColumns(database: QueryExecutorProvider, dialect: Dialect, named: NamedTable): CompiledQuery {
  return dialect.readColumns(named).compile(database);
}

/** Creates a table unless it exists. */
export function createTable(
  database: QueryExecutorProvider,
  dialect: Dialect,
  { schema, table, shape }: OwnTable,
): CompiledQuery[] {
  return dialect.createTable(tableName(schema, table), shape).map((fragment) => fragment.compile(database));
}

/** Drops a table if it exists. */
export function dropTable(database: QueryExecutorProvider, named: NamedTable): CompiledQuery {
  return dropped(named).compile(database);
}

const dropped = ({ schema, table }: NamedTable): Fragment => sql`drop table if exists ${tableName(schema, table)}`;

/** What the new table is called from when it is built until it is put into the place of the old one. */
export function replacementOf({ schema, table }: NamedTable): NamedTable {
  return { schema, table: beside(table, 'replacement') };
}

/** What the old table is called from when the new one stands in its place until it is dropped. */
export function retiredFrom({ schema, table }: NamedTable): NamedTable {
  return { schema, table: beside(table, 'retired') };
}

/** Short enough that no database cuts it: a name that is cut may be that of the table itself. */
function beside(table: string, what: 'replacement' | 'retired'): string {
  return `${table.slice(0, 48)}_${what}`;
}

/**
 * Builds the present shape of a table beside the old one, copies every row, and puts it in the old one's
 * place. Broken off anywhere it can be begun again: the old table stands until the new one is complete.
 */
export function rebuildTable(
  database: QueryExecutorProvider,
  dialect: Dialect,
  { schema, table, shape, backfill }: OwnTable,
  present: ReadonlySet<string>,
): CompiledQuery[] {
  const named = { schema, table };
  const old = tableName(schema, table);
  const replacement = tableName(schema, replacementOf(named).table);
  const retired = tableName(schema, retiredFrom(named).table);
  const copied = shape.columns
    .map(({ name, type }) => ({ name, from: present.has(name) ? dialect.carried(type, sql.id(name)) : backfill[name] }))
    .filter((column): column is { name: string; from: Fragment } => column.from !== undefined);
  const fragments = [
    ...(dialect.schemaCommits ? [replacementOf(named), retiredFrom(named)].map(dropped) : []),
    ...dialect.createTable(replacement, shape),
    sql`insert into ${replacement} (${sql.join(copied.map(({ name }) => sql.id(name)))})
      select ${sql.join(copied.map(({ from }) => from))} from ${old}`,
    ...dialect.swapTables({ table: old, replacement, retired, named }),
  ];
  return fragments.map((fragment) => fragment.compile(database));
}
