import { sql } from 'kysely';
import type { IdType } from '../core/id.js';
import { chosenRows } from './chosen-rows.js';
import type { Dialect, Fragment, NamedTable } from './dialect.js';
import { mysqlCatalogue } from './mysql-catalogue.js';
import { classifyMysql, endsMysqlTransaction, insistOnUpdate } from './mysql-errors.js';
import { mysqlSettings } from './mysql-settings.js';
import { instantOf, mysqlEpoch, mysqlInstant } from './mysql-times.js';
import { boundMysqlWait, mysqlLevel, mysqlLockHolders } from './mysql-transactions.js';
import { SAVEPOINT } from './savepoint.js';
import type { ColumnShape, ColumnType } from './table-shape.js';

/**
 * Compares byte by byte and pads nothing: no one collation of that kind is known to both servers, and each
 * passes over the other's comment.
 */
const COLLATE = '/*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */';
const TEXT = `character set utf8mb4 ${COLLATE}`;
const BINARY = sql.raw(COLLATE);

/** The ids of a list, and as many NULLs that few lengths of lists are statements of their own. */
function padded(ids: readonly unknown[]): readonly unknown[] {
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, ids.length)));
  return [...ids, ...Array.from({ length: length - ids.length }, () => null)];
}

const SAFE = sql.raw('-9007199254740991 and 9007199254740991');
const BIGINT = sql.raw('-9223372036854775808 and 9223372036854775807');

const TYPES: Readonly<Record<ColumnType, string>> = Object.freeze({
  token: 'bigint not null auto_increment primary key',
  text: `varchar(255) ${TEXT}`,
  'long-text': `longtext ${TEXT}`,
  integer: 'bigint',
  stamp: 'datetime(3) not null default (utc_timestamp(3))',
});

function column({ name, type, notNull }: ColumnShape): Fragment {
  const nullable = type === 'token' || type === 'stamp' ? '' : notNull ? ' not null' : ' null';
  // Where sql_mode is lenient, a missing value becomes an empty one: no text that must be there is ever empty.
  const check = type === 'text' && notNull ? sql` check (${sql.id(name)} <> '')` : sql``;
  return sql`${sql.id(name)} ${sql.raw(TYPES[type])}${sql.raw(nullable)}${check}`;
}

const ID_TYPES: Readonly<Record<IdType, Fragment>> = Object.freeze({
  integer: sql`bigint`,
  bigint: sql`bigint`,
  text: sql.raw(`varchar(255) ${TEXT}`),
});

/** Byte by byte in one encoding, whatever the character set and the collation of a column are. */
const bytes = (text: Fragment): Fragment => sql`cast(convert(${text} using utf8mb4) as binary)`;

/** Names that no table of the library can have. */
const LISTED = sql.id('in:list');
const PICKED = sql.id('in:lock');

/** A list, given as one JSON parameter, as a table with the column `v`. */
const listed = (list: Fragment, type: IdType): Fragment =>
  sql`json_table(${list}, '$[*]' columns (v ${ID_TYPES[type]} path '$')) as ${LISTED}`;

const among: Dialect['among'] = (column, type, list) =>
  sql<boolean>`${column} in (select ${LISTED}.v from ${listed(list, type)})`;

/** Names of locks are shared by all databases of a server, and are short. */
const lockName = ({ schema, table }: NamedTable): Fragment =>
  sql`left(sha2(concat(${schema ?? sql`database()`}, ${`.${table}`}), 256), 60)`;

/** MySQL 8 and MariaDB from 10.6. */
export const mysqlDialect: Dialect = Object.freeze<Dialect>({
  name: 'mysql',
  oneConnection: false,
  returning: false,
  fusedRelease: false,
  schemaCommits: true,
  timeFormat: 'native',

  // SYSDATE goes on while a statement waits, and gives the wall time of the session's zone, where an hour comes twice
  // each autumn: what the zone makes of the instant at which the statement began tells which of the two this is.
  nowMs: sql<number>`cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)`,
  instant: mysqlInstant,
  epochMs: mysqlEpoch,
  instantText: (format, at) => sql<string>`cast(${format === 'instant' ? sql`unix_timestamp(${at})` : at} as char)`,

  least: (a, b) => sql<number>`least(${a}, ${b})`,
  same: (a, b) => sql<boolean>`${a} <=> ${b}`,
  sameText: (text, value) => sql<boolean>`${bytes(text)} <=> ${bytes(value)}`,
  sameId: (type: IdType, id, value) =>
    type === 'text'
      ? sql<boolean>`(${id} = ${value} and ${bytes(id)} = ${bytes(value)})` // by the index, and then byte by byte
      : sql<boolean>`${id} = ${value}`,
  // By the collation of a column that has one; a number would meet all text that begins with it.
  meetsId: (type: IdType, id, value) =>
    type === 'text'
      ? sql<boolean>`(${id} = ${value} and (collation(${id}) <> 'binary' or ${bytes(id)} = ${bytes(value)}))`
      : sql<boolean>`${id} = ${value}`,
  keyOf: (type: IdType, id) => (type === 'text' ? sql`convert(${id} using utf8mb4) ${BINARY}` : id),
  listParameters: (type: IdType, ids) => [
    JSON.stringify(type === 'text' ? ids.map(() => 0) : ids.map(String)),
    ...(type === 'text' ? padded(ids) : []),
  ],
  // Text out of a table would be compared by the collation of that: ELT gives it as the parameter that it is.
  listed: (type: IdType, id, [list, ...ids]) => {
    const value = type === 'text' ? sql`elt(listed.position, ${sql.join(ids)})` : sql`listed.v`;
    const fields = sql`position for ordinality, v ${ID_TYPES[type]} path '$'`;
    return {
      from: sql`, json_table(${list}, '$[*]' columns (${fields})) as listed`,
      condition: mysqlDialect.meetsId(type, id, value),
      position: sql`listed.position`,
    };
  },
  secondLook: undefined,
  readId: (type: IdType, id) => (type === 'bigint' ? sql`cast(${id} as char)` : id),
  // Not by the column itself, which would make a range of its index out of it.
  holdsId: (type: IdType, id) =>
    type === 'text'
      ? sql<boolean>`(length(${bytes(id)}) between 1 and 255 and locate(x'00', ${bytes(id)}) = 0)`
      : sql<boolean>`(${id} + 0 between ${type === 'integer' ? SAFE : BIGINT})`,
  list: (values) => JSON.stringify(values.map(String)),
  among,
  records: (json, columns) => {
    const fields = Object.entries(columns).map(
      ([name, type]) => sql`${sql.id(name)} ${ID_TYPES[type]} path ${sql.lit(`$.${name}`)}`,
    );
    return sql`json_table(${json}, '$[*]' columns (position for ordinality, ${sql.join(fields)})) as given`;
  },

  moveIdentity: undefined,
  // Not ON DUPLICATE KEY UPDATE: its exclusive lock waits for a holder that writes its stage in an open transaction.
  // What IGNORE would cut or convert besides is refused before any statement.
  // A list of values where that can be: INSERT … SELECT keeps every other INSERT of the table from its number meanwhile.
  insertFree: (insert) =>
    sql`insert ignore into ${insert.table} (${insert.columns}) ${
      insert.values === undefined ? chosenRows(insert) : sql`values (${insert.values})`
    }`,
  shareLock: sql`lock in share mode`,
  onlyWritesAreCurrent: false,
  latest: sql`lock in share mode`,
  lockRows: sql`for update`,
  lockFreeRows: sql`for update skip locked`,
  // Both joins go by the primary key: a scan would wait for rows of others, at the stronger levels also for those
  // that it does not want. LIMIT keeps the locking select from being merged into the update, which would wait.
  updateUnlocked: ({ table, assignments, key, keys, condition }) =>
    sql`update (select ${key} as k from ${listed(keys, 'integer')} straight_join ${table} force index (primary)
      on ${key} = ${LISTED}.v where ${condition} limit 18446744073709551615 for update skip locked) as ${PICKED}
      straight_join ${table} force index (primary) on ${key} = ${PICKED}.k set ${assignments}`,

  // By the key of the rows' own condition and not by the primary one: the index that finds a row is locked as well.
  deleteUnlocked: ({ table, key, condition }) =>
    sql`delete ${table} from (select ${key} as k from ${table} where ${condition}
      limit 18446744073709551615 for update skip locked) as ${PICKED}
      straight_join ${table} force index (primary) on ${key} = ${PICKED}.k`,
  boundWait: boundMysqlWait,
  transactionLevel: mysqlLevel,
  lockHolders: mysqlLockHolders,
  endsTransaction: endsMysqlTransaction,

  // The limit of a statement goes before that of its session.
  allRows: sql`limit 18446744073709551615`,
  // Out of range where the session does not commit: an error even under IGNORE, found before any row is locked.
  committing: '9223372036854775807 + (not @@session.autocommit = 1) > 0',

  insist: insistOnUpdate,
  savepoint: SAVEPOINT,

  randomClaim: sql`uuid()`,
  carried: (type, old) => (type === 'stamp' ? instantOf(old) : old),
  isNoValue: (error) => error instanceof Error && /^Incorrect uuid value/.test(error.message),
  classify: classifyMysql,

  createTable: (name, { columns, unique }) => [
    sql`create table if not exists ${name} (${sql.join([
      ...columns.map(column),
      ...unique.map((key) => sql`unique (${sql.join(key.map((name) => sql.id(name)))})`),
    ])}) engine = innodb`,
  ],
  readColumns: ({ schema, table }) =>
    sql`select column_name as column_name from information_schema.columns where table_name = ${table}
      and table_schema = ${schema === undefined ? sql`database()` : schema} order by ordinal_position`,
  swapTables: ({ table, replacement, retired }) => [
    sql`rename table ${table} to ${retired}, ${replacement} to ${table}`,
    sql`drop table ${retired}`,
  ],
  schemaLock: {
    // Instants that are copied out of TIMESTAMP columns must be in UTC.
    enter: (named) => [
      sql`select get_lock(${lockName(named)}, 10) as granted`,
      sql`set @transition_ownership_zone = @@session.time_zone, session time_zone = '+00:00'`,
    ],
    leave: (named) => [
      sql`set session time_zone = @transition_ownership_zone`,
      sql`select release_lock(${lockName(named)})`,
    ],
  },
  settings: mysqlSettings,
  catalogue: mysqlCatalogue,
});
