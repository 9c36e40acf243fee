import { sql } from 'kysely';
import type { Fragment, StoredTime } from './dialect.js';

export const inUtc = (ms: Fragment<number>): Fragment =>
  sql`(to_timestamp((${ms})::double precision / 1000) at time zone 'UTC')`;

/** How instants are spelled in columns of text. */
export const TEXTS: Readonly<Partial<Record<StoredTime, string>>> = Object.freeze({
  'sqlite-text': 'YYYY-MM-DD HH24:MI:SS.MS',
  'sqlite-seconds': 'YYYY-MM-DD HH24:MI:SS',
  iso: 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"',
});

export const epoch = (instant: Fragment): Fragment<number> =>
  sql<number>`cast(extract(epoch from ${instant}) * 1000 as bigint)`;

/** What an instant looks like that was written by whatever means. */
const SHAPE = sql.lit(
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])[ T]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d([.]\\d+)?(Z|[+-]\\d\\d(:?\\d\\d)?)?$',
);

/** An instant that was written by whatever means, where it can be read; without a zone it is in UTC. */
export const readable = (column: Fragment, otherwise: Fragment): Fragment => {
  const text = sql`(${column})::text`;
  const zone = sql`case when ${text} ~ '(Z|[+-]\\d\\d(:?\\d\\d)?)$' then '' else 'Z' end`;
  return sql`case when ${text} ~ ${SHAPE} then (${text} || ${zone})::timestamptz else ${otherwise} end`;
};

/** What a row of an older table gets. */
export const instantOf = (column: Fragment): Fragment => readable(column, sql`clock_timestamp()`);
