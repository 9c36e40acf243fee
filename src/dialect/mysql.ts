import { sql } from 'kysely';
import type { IdType } from '../core/id.js';
import type { Dialect, Fragment, TimeFormat } from './dialect.js';
import { classifyMysql } from './mysql-errors.js';
import type { ColumnShape, ColumnType } from './table-shape.js';

const TYPES: Readonly<Record<ColumnType, string>> = Object.freeze({
  token: 'bigint not null auto_increment primary key',
  text: 'varbinary(255)',
  'long-text': 'longtext character set utf8mb4',
  integer: 'bigint',
  stamp: 'datetime(3) not null default utc_timestamp(3)',
});

function column({ name, type, notNull }: ColumnShape): Fragment {
  const nullable = type === 'token' || type === 'stamp' ? '' : notNull ? ' not null' : ' null';
  return sql`${sql.id(name)} ${sql.raw(TYPES[type])}${sql.raw(nullable)}`;
}

const utc = (ms: Fragment<number>): Fragment =>
  sql`timestampadd(microsecond, (${ms}) * 1000, '1970-01-01 00:00:00.000')`;

/** MySQL 8 and MariaDB from 10.6. */
export const mysqlDialect: Dialect = Object.freeze<Dialect>({
  name: 'mysql',
  oneConnection: false,
  returning: false,
  fusedRelease: false,
  timeFormat: 'native',

  nowMs: sql<number>`cast(unix_timestamp(sysdate(3)) * 1000 as signed)`,
  instant: (format: TimeFormat, ms) => {
    if (format === 'epoch-ms') return ms;
    if (format === 'native') return utc(ms);
    const pattern = format === 'iso' ? '%Y-%m-%dT%H:%i:%s.%f' : '%Y-%m-%d %H:%i:%s.%f';
    const text = sql`left(date_format(${utc(ms)}, ${sql.lit(pattern)}), 23)`;
    return format === 'iso' ? sql`concat(${text}, 'Z')` : text;
  },
  epochMs: (format: TimeFormat, at) =>
    format === 'epoch-ms'
      ? sql<number>`${at}`
      : sql<number>`(timestampdiff(microsecond, '1970-01-01 00:00:00', ${
          format === 'native' ? at : sql`cast(replace(replace(${at}, 'T', ' '), 'Z', '') as datetime(3))`
        }) div 1000)`,

  least: (a, b) => sql<number>`least(${a}, ${b})`,
  sameText: (text, value) => sql<boolean>`cast(${text} as binary) <=> cast(${value} as binary)`,
  sameId: (type: IdType, id, value) =>
    type === 'text'
      ? sql<boolean>`(${id} = ${value} and cast(${id} as binary) = cast(${value} as binary))`
      : sql<boolean>`${id} = ${value}`,
  readId: (type: IdType, id) => (type === 'bigint' ? sql`cast(${id} as char)` : id),
  list: (values) => JSON.stringify(values.map(String)),
  among: (value, type: IdType, list) =>
    sql<boolean>`${value} in (select ${type === 'text' ? sql`cast(j.v as binary)` : sql`cast(j.v as signed)`}
      from json_table(${list}, '$[*]' columns (v varchar(255) character set utf8mb4 path '$')) as j)`,
  records: (json, columns) => {
    const fields = Object.entries(columns).map(
      ([name, type]) =>
        sql`${sql.id(name)} ${type === 'text' ? sql`varchar(255) character set utf8mb4` : sql`bigint`} path ${sql.lit(`$.${name}`)}`,
    );
    return sql`json_table(${json}, '$[*]' columns (position for ordinality, ${sql.join(fields)})) as given`;
  },

  orIgnore: (key) => sql`on duplicate key update ${key} = ${key}`,
  shareLock: sql`lock in share mode`,
  latest: sql`lock in share mode`,
  unlocked: (table, key, condition) =>
    sql<boolean>`${key} in (select picked.k from (select ${key} as k from ${table} where ${condition} for update skip locked) as picked)`,

  begin: 'start transaction',
  randomClaim: sql`uuid()`,
  classify: classifyMysql,

  createTable: (name, { columns, unique }) => [
    sql`create table if not exists ${name} (${sql.join([
      ...columns.map(column),
      sql`unique (${sql.join(unique.map((key) => sql.id(key)))})`,
    ])}) engine = innodb`,
  ],
  readColumns: (schema, table) =>
    sql`select column_name as column_name from information_schema.columns where table_name = ${table}
      and table_schema = ${schema === undefined ? sql`database()` : schema} order by ordinal_position`,
  swapTables: ({ table, replacement, retired }) => [
    sql`rename table ${table} to ${retired}, ${replacement} to ${table}`,
    sql`drop table ${retired}`,
  ],
  schemaLock: {
    enter: (key) => [sql`select get_lock(left(sha2(${key}, 256), 60), 60)`],
    leave: (key) => [sql`select release_lock(left(sha2(${key}, 256), 60))`],
    abandon: (key) => [sql`select release_lock(left(sha2(${key}, 256), 60))`],
  },
});
