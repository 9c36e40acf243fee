import { sql } from 'kysely';
import type { IdType } from '../core/id.js';
import { chosenRows } from './chosen-rows.js';
import type { Dialect, Fragment, StoredTime } from './dialect.js';
import { SAVEPOINT } from './savepoint.js';
import { sqliteCatalogue } from './sqlite-catalogue.js';
import { classifySqlite, endsSqliteTransaction } from './sqlite-errors.js';
import { sqliteSettings } from './sqlite-settings.js';
import type { ColumnShape, ColumnType } from './table-shape.js';

const NOW_MS = sql<number>`cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer)`;

const TEXTS: Readonly<Partial<Record<StoredTime, string>>> = Object.freeze({
  iso: '%Y-%m-%dT%H:%M:%fZ',
  'sqlite-seconds': '%Y-%m-%d %H:%M:%S',
});

const SAFE = sql.raw('-9007199254740991 and 9007199254740991');

const TYPES: Readonly<Record<ColumnType, string>> = Object.freeze({
  token: 'integer primary key autoincrement',
  text: 'text',
  'long-text': 'text',
  integer: 'integer',
  stamp: `text not null default (datetime('now'))`,
});

function column({ name, type, notNull }: ColumnShape): Fragment {
  return sql`${sql.id(name)} ${sql.raw(TYPES[type])}${sql.raw(notNull ? ' not null' : '')}`;
}

const idList = (values: readonly unknown[]): string =>
  JSON.stringify(values.map((value) => (typeof value === 'bigint' ? value.toString() : value)));

const among: Dialect['among'] = (column, type, list) =>
  type === 'bigint'
    ? sql<boolean>`${column} in (select cast(value as integer) from json_each(${list}))`
    : sql<boolean>`${column} in (select value from json_each(${list}))`;

/** SQLite, by any driver that gives rows for RETURNING. */
export const sqliteDialect: Dialect = Object.freeze<Dialect>({
  name: 'sqlite',
  oneConnection: true,
  returning: true,
  fusedRelease: false,
  schemaCommits: false,
  timeFormat: 'sqlite-text',

  nowMs: NOW_MS,
  instant: (format, ms: Fragment<number>) =>
    format === 'epoch-ms'
      ? ms
      : sql`strftime(${sql.lit(TEXTS[format] ?? '%Y-%m-%d %H:%M:%f')}, ${ms} / 1000.0, 'unixepoch')`,
  epochMs: (format, at: Fragment) =>
    format === 'epoch-ms'
      ? sql<number>`${at}`
      : sql<number>`cast(round((julianday(${at}) - 2440587.5) * 86400000.0) as integer)`,
  instantText: (_format, at) => sql<string>`cast(${at} as text)`,

  least: (a, b) => sql<number>`min(${a}, ${b})`,
  same: (a, b) => sql<boolean>`${a} is ${b}`,
  sameText: (text, value) => sql<boolean>`${text} is ${value} collate binary`,
  sameId: (type: IdType, id, value) =>
    type === 'text' ? sql<boolean>`${id} = ${value} collate binary` : sql<boolean>`${id} = ${value}`,
  meetsId: (_type, id, value) => sql<boolean>`${id} = ${value}`,
  keyOf: (type: IdType, id) => (type === 'text' ? sql`cast(${id} as text)` : id),
  listParameters: (_type, ids) => [idList(ids)],
  listed: (type: IdType, id, [list]) => ({
    from: sql`, json_each(${list}) as listed`,
    condition: sql<boolean>`${id} = ${type === 'bigint' ? sql`cast(listed.value as integer)` : sql`listed.value`}`,
    position: sql`listed.key + 1`,
  }),
  secondLook: undefined,
  readId: (type: IdType, id) => (type === 'bigint' ? sql`cast(${id} as text)` : id),
  holdsId: (type: IdType, id) => {
    if (type === 'integer') return sql<boolean>`(typeof(${id}) = 'integer' and +${id} between ${SAFE})`;
    if (type === 'bigint') return sql<boolean>`(typeof(${id}) = 'integer')`;
    const bytes = sql`cast(${id} as blob)`;
    return sql<boolean>`(typeof(${id}) = 'text' and length(${bytes}) between 1 and 255 and instr(${bytes}, x'00') = 0)`;
  },
  list: idList,
  among,
  records: (json, columns) => {
    const fields = Object.entries(columns).map(([name, type]) => {
      const field = sql`value ->> ${sql.lit(`$.${name}`)}`;
      return sql`${type === 'bigint' ? sql`cast(${field} as integer)` : field} as ${sql.id(name)}`;
    });
    // Unless they are set apart first, every use of a field parses its record again.
    return sql`(with each as materialized (select key, value from json_each(${json}))
      select key + 1 as position, ${sql.join(fields)} from each) as given`;
  },

  moveIdentity: undefined,
  // One writer at a time: what is looked for is still so when it is written. An INSERT that meets a conflict
  // would use up a number of AUTOINCREMENT all the same, and so write and commit.
  insertFree: (insert) => {
    const { table, columns, key } = insert;
    const taken = key.map(({ column, value }) => sql`${column} = ${value}`);
    // Under a name of its own, for a table may be called what the rows are called.
    const free = sql`not exists (select 1 from ${table} as taken where ${sql.join(taken, sql` and `)})`;
    const first = insert.mayRepeat ? sql`on conflict (${sql.join(key.map(({ column }) => column))}) do nothing` : sql``;
    return sql`insert into ${table} (${columns}) ${chosenRows(insert, free)} ${first}`;
  },
  shareLock: sql``,
  onlyWritesAreCurrent: true,
  latest: sql``,
  lockRows: sql``,
  lockFreeRows: sql``,
  updateUnlocked: ({ table, assignments, key, keys, condition }) =>
    sql`update ${table} set ${assignments} where ${among(key, 'integer', keys)} and ${condition}`,
  deleteUnlocked: ({ table, condition, returning }) => sql`delete from ${table} where ${condition} ${returning}`,
  endsTransaction: endsSqliteTransaction,

  allRows: sql``,
  committing: undefined,

  insist: undefined,
  savepoint: SAVEPOINT,

  randomClaim: sql`lower(hex(randomblob(16)))`,
  carried: (type, old) => (type === 'stamp' ? sql`coalesce(${old}, datetime('now'))` : old),
  classify: classifySqlite,

  createTable: (name, { columns, unique }) => [
    sql`create table if not exists ${name} (${sql.join([
      ...columns.map(column),
      ...unique.map((key) => sql`unique (${sql.join(key.map((name) => sql.id(name)))})`),
    ])})`,
  ],
  readColumns: ({ schema, table }) => {
    const tables = schema === undefined ? sql.id('sqlite_master') : sql.id(schema, 'sqlite_master');
    const columns = sql`pragma_table_info(listed.name${schema === undefined ? sql`` : sql`, ${schema}`})`;
    return sql`select columns.name as column_name from ${tables} as listed, ${columns} as columns
      where listed.type = 'table' and listed.name = ${table} collate nocase`;
  },
  swapTables: ({ table, replacement, named }) => [
    sql`drop table ${table}`,
    sql`alter table ${replacement} rename to ${sql.id(named.table)}`,
  ],
  schemaLock: {
    // Whoever looked at the schema before another process changed it is refused its own change, and begins again.
    enter: () => [],
    leave: () => [],
  },
  settings: sqliteSettings,
  catalogue: sqliteCatalogue,
});
