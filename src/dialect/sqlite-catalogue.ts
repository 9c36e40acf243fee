import { sql } from 'kysely';
import type { ColumnFacts } from '../core/catalogue.js';
import type { Fragment, NamedTable } from './dialect.js';
import type { Catalogue, Cells } from './looking.js';

/** A trigger on UPDATE, by the statement that made it. */
const ON_UPDATE =
  /create\s+(?:temp\w*\s+)?trigger\s+(?:if\s+not\s+exists\s+)?("[^"]*"|\S+)\s+(?:(before|after|instead\s+of)\s+)?update\b/gi;

function columnsOf({ schema, table }: NamedTable, at: number): Fragment {
  const args = schema === undefined ? sql`${table}` : sql`${table}, ${schema}`;
  const master = schema === undefined ? sql.id('sqlite_master') : sql.id(schema, 'sqlite_master');
  const placed = schema === undefined ? sql`` : sql`and schema = ${schema} collate nocase`;
  // An INTEGER PRIMARY KEY has no index of its own.
  return sql`select ${sql.lit(at)} as at, x.name, x.type, x."notnull" as not_null, x.hidden,
    (x.pk = 1 and (select max(pk) from pragma_table_xinfo(${args})) = 1) or exists (
      select 1 from pragma_index_list(${args}) as l where l."unique" = 1 and l.partial = 0
        and (select count(*) from pragma_index_info(l.name)) = 1
        and (select i.name from pragma_index_info(l.name) as i) = x.name) as is_unique,
    (select type from pragma_table_list where name = ${table} collate nocase ${placed} limit 1) as kind,
    (select group_concat(sql, ';') from ${master} where type = 'trigger' and tbl_name = ${table} collate nocase) as triggers
    from pragma_table_xinfo(${args}) as x`;
}

/** The schema of an SQLite file, attached ones too. */
export const sqliteCatalogue: Catalogue = Object.freeze<Catalogue>({
  foldsNames: true,
  localTimes: 'UTC',
  idTypeCode: 'id-affinity',

  read: (tables) => sql.join(tables.map(columnsOf), sql` union all `),

  table: (rows) => {
    const [first] = rows;
    if (first === undefined) return undefined;
    const triggers = [...(first['triggers'] ?? '').matchAll(ON_UPDATE)];
    return {
      writable: first['kind'] !== 'view' || triggers.some(([, , moment = '']) => /^instead/i.test(moment)),
      engine: null,
      trigger: triggers[0]?.[1]?.replaceAll('"', '') ?? null,
      readable: true,
      columns: rows.map(column),
    };
  },
});

function column({ name = '', type = '', ...cells }: Cells): ColumnFacts {
  // By the rules of column affinity.
  const holds = /int/i.test(type) ? 'number' : /char|clob|text/i.test(type) ? 'text' : 'number';
  return {
    name,
    type,
    holds: /blob|^$/i.test(type) ? 'other' : holds,
    room: null,
    digits: null,
    labels: [],
    notNull: cells['not_null'] === '1',
    generated: cells['hidden'] === '2' || cells['hidden'] === '3',
    unique: cells['is_unique'] === '1',
  };
}
