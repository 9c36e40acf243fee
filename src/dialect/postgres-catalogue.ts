import { sql } from 'kysely';
import type { ColumnFacts, Holds } from '../core/catalogue.js';
import type { Fragment } from './dialect.js';
import type { Catalogue, Cells } from './looking.js';

const HOLDS: Readonly<Record<string, Holds>> = Object.freeze({
  int2: 'number',
  int4: 'number',
  int8: 'number',
  numeric: 'number',
  float4: 'number',
  float8: 'number',
  text: 'text',
  varchar: 'text',
  bpchar: 'text',
  citext: 'text',
  name: 'text',
  uuid: 'uuid',
  date: 'date',
  time: 'date',
  timetz: 'date',
  timestamptz: 'instant',
  timestamp: 'local-time',
});

/**
 * The schema in which a table is found that is named without one. Not by `pg_table_is_visible`, which raises when a table
 * of that name is dropped elsewhere at this moment; nor is the view `pg_sequences` read, which opens every sequence.
 */
export const firstInPath = (table: Fragment): Fragment => sql`
  (select path.nsp from unnest(current_schemas(true)) with ordinality as path(nsp, n)
    where exists (select 1 from pg_class k join pg_namespace m on m.oid = k.relnamespace
      where k.relname = ${table} and m.nspname = path.nsp) order by path.n limit 1)::text`;

/** The catalogue of PostgreSQL, which any role may read; no function here can raise, whatever is there. */
export const postgresCatalogue: Catalogue = Object.freeze<Catalogue>({
  foldsNames: false,
  localTimes: 'session',
  idTypeCode: 'id-type',

  read: (tables) => {
    const asked = tables.map(({ schema = null, table }, at) => sql`(${sql.lit(at)}, ${schema}::text, ${table}::text)`);
    return sql`select w.at, a.attname as name, format_type(a.atttypid, a.atttypmod) as type, bt.typname as base,
      bt.typtype as sort, coalesce(nullif(a.atttypmod, -1), ty.typtypmod) as modifier, a.attnotnull as not_null,
      a.attgenerated <> '' as generated,
      (select json_agg(e.enumlabel order by e.enumsortorder)::text from pg_enum e where e.enumtypid = bt.oid) as labels,
      not (c.relkind = 'r' and c.relhassubclass) and exists (select 1 from pg_index i where i.indrelid = c.oid
        and i.indisunique and i.indisvalid and i.indpred is null and i.indnkeyatts = 1
        and i.indkey[0] = a.attnum) as is_unique,
      (select min(g.tgname::text) from pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal
        and g.tgtype & 16 = 16) as update_trigger,
      case when c.relkind = 'v' then pg_relation_is_updatable(c.oid, true) & 4 = 4 else c.relkind <> 'm' end as writable,
      has_table_privilege(c.oid, 'select') as readable
      from (values ${sql.join(asked)}) as w(at, nsp, rel)
      join pg_class c on c.relname = w.rel and c.relkind in ('r', 'p', 'v', 'f', 'm')
      join pg_namespace s on s.oid = c.relnamespace
        and s.nspname = coalesce(w.nsp, ${firstInPath(sql`w.rel`)})
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      join pg_type ty on ty.oid = a.atttypid
      left join pg_type bt on bt.oid = coalesce(nullif(ty.typbasetype, 0), ty.oid)`;
  },

  table: (rows) => {
    const [first] = rows;
    if (first === undefined) return undefined;
    return {
      writable: isTrue(first['writable']),
      engine: null,
      trigger: first['update_trigger'] ?? null,
      readable: isTrue(first['readable']),
      columns: rows.map(column),
    };
  },
});

function column(cells: Cells): ColumnFacts {
  const { name = '', type = '', base = '' } = cells;
  const holds = cells['sort'] === 'e' ? 'enum' : (HOLDS[base] ?? 'other');
  const modifier = Number(cells['modifier'] ?? -1);
  const isBound = modifier >= 0;
  return {
    name,
    type,
    holds,
    room: isBound && (base === 'varchar' || base === 'bpchar') ? modifier - 4 : null,
    digits: holds === 'instant' || holds === 'local-time' ? (isBound ? modifier : 6) : null,
    labels: holds === 'enum' ? (JSON.parse(cells['labels'] ?? '[]') as string[]) : [],
    notNull: isTrue(cells['not_null']),
    generated: isTrue(cells['generated']),
    unique: isTrue(cells['is_unique']),
  };
}

/** However a driver spells it. */
const isTrue = (cell: string | undefined): boolean => cell === 'true' || cell === 't' || cell === '1';
