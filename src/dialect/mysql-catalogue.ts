import { sql } from 'kysely';
import type { ColumnFacts, Holds } from '../core/catalogue.js';
import type { Fragment, NamedTable } from './dialect.js';
import type { Catalogue, Cells } from './looking.js';

const HOLDS: readonly (readonly [RegExp, Holds])[] = [
  [/^(\w*int|decimal|numeric|float|double|year)$/, 'number'],
  [/^((var)?char|\w*text)$/, 'text'],
  [/^enum$/, 'enum'],
  [/^uuid$/, 'uuid'],
  [/^(date|time)$/, 'date'],
  [/^timestamp$/, 'instant'],
  [/^datetime$/, 'local-time'],
];

/** Never correlated: each part is looked up by constants. */
function parts({ schema, table }: NamedTable, at: number): Fragment[] {
  const where = (prefix: string): Fragment =>
    sql`${sql.ref(`${prefix}_schema`)} = ${schema ?? sql`database()`} and ${sql.ref(`${prefix}_name`)} = ${table}`;
  const index = sql.lit(at);
  return [
    sql`select ${index} as at, 'column' as part, column_name as name, data_type as base, column_type as type,
      character_maximum_length as room, datetime_precision as digits, is_nullable as nullable, extra as extra
      from information_schema.columns where ${where('table')}`,
    sql`select ${index}, 'unique', min(column_name), null, null, null, null, null, null
      from information_schema.statistics where ${where('table')} and non_unique = 0
      group by index_name having count(*) = 1 and max(sub_part) is null`,
    sql`select ${index}, 'engine', engine, null, null, null, null, null, null
      from information_schema.tables where ${where('table')}`,
    sql`select ${index}, 'view', is_updatable, null, null, null, null, null, null
      from information_schema.views where ${where('table')}`,
    sql`select ${index}, 'trigger', trigger_name, null, null, null, null, null, null
      from information_schema.triggers where event_object_schema = ${schema ?? sql`database()`}
      and event_object_table = ${table} and event_manipulation = 'UPDATE'`,
  ];
}

/** The catalogue of MySQL and MariaDB: it shows what the user has rights on, and no more. */
export const mysqlCatalogue: Catalogue = Object.freeze<Catalogue>({
  foldsNames: true,
  localTimes: 'UTC',
  idTypeCode: 'id-type',

  // The limit of a session would end it after some rows.
  read: (tables) => sql`${sql.join(tables.flatMap(parts), sql` union all `)} limit 18446744073709551615`,

  table: (rows) => {
    const named = (part: string): string[] =>
      rows.filter((cells) => cells['part'] === part).flatMap(({ name }) => (name === undefined ? [] : [name]));
    const columns = rows.filter((cells) => cells['part'] === 'column');
    if (columns.length === 0) return undefined;
    const unique = named('unique');
    return {
      writable: named('view')[0] !== 'NO',
      engine: named('engine')[0] ?? null,
      trigger: named('trigger')[0] ?? null,
      readable: true,
      columns: columns.map((cells) => column(cells, unique)),
    };
  },
});

function column(cells: Cells, unique: readonly string[]): ColumnFacts {
  const { name = '', type = '', base = '', room, digits } = cells;
  const holds = HOLDS.find(([pattern]) => pattern.test(base))?.[1] ?? 'other';
  return {
    name,
    type,
    holds,
    room: holds === 'text' && room !== undefined ? Number(room) : null,
    digits: (holds === 'instant' || holds === 'local-time') && digits !== undefined ? Number(digits) : null,
    labels: holds === 'enum' ? labelsOf(type) : [],
    notNull: cells['nullable'] === 'NO',
    generated: /\b(virtual|stored|persistent)\b/i.test(cells['extra'] ?? ''),
    unique: unique.includes(name),
  };
}

/** `enum('a','b''c')`. */
function labelsOf(type: string): string[] {
  return [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = '']) => label.replaceAll("''", "'"));
}
