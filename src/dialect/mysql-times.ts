import { sql } from 'kysely';
import type { Fragment, StoredTime } from './dialect.js';

const utc = (ms: Fragment<number>): Fragment =>
  sql`timestampadd(microsecond, (${ms}) * 1000, '1970-01-01 00:00:00.000')`;

/** How instants are spelled in columns of text, and what is cut of their fraction. */
const TEXTS: Readonly<Partial<Record<StoredTime, { readonly pattern: string; readonly length: number }>>> =
  Object.freeze({
    'sqlite-text': { pattern: '%Y-%m-%d %H:%i:%s.%f', length: 23 },
    'sqlite-seconds': { pattern: '%Y-%m-%d %H:%i:%s', length: 19 },
    iso: { pattern: '%Y-%m-%dT%H:%i:%s.%f', length: 23 },
  });

/** An instant, which is now, as a value for a column of the caller. */
export function mysqlInstant(format: StoredTime, ms: Fragment<number>): Fragment {
  if (format === 'epoch-ms') return ms;
  // Computed it would be an hour off where the zone of the session has an hour twice.
  if (format === 'instant') return sql`current_timestamp(3)`;
  const spelled = TEXTS[format];
  if (spelled === undefined) return utc(ms);
  const text = sql`left(date_format(${utc(ms)}, ${sql.lit(spelled.pattern)}), ${sql.lit(spelled.length)})`;
  return format === 'iso' ? sql`concat(${text}, 'Z')` : text;
}

/** The caller's column that holds an instant, as epoch ms. */
export function mysqlEpoch(format: StoredTime, at: Fragment): Fragment<number> {
  if (format === 'epoch-ms') return sql<number>`${at}`;
  if (format === 'instant') return sql<number>`cast(floor(unix_timestamp(${at}) * 1000) as signed)`;
  const local = format in TEXTS ? sql`cast(replace(replace(${at}, 'T', ' '), 'Z', '') as datetime(3))` : at;
  return sql<number>`(timestampdiff(microsecond, '1970-01-01 00:00:00', ${local}) div 1000)`;
}

/** What an instant looks like that was written by whatever means, up to its milliseconds. */
const SHAPE = sql.lit(
  '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,3})?',
);

/** An instant that was written by whatever means, where it can be read; without a zone it is in UTC. */
export const instantOf = (column: Fragment): Fragment => {
  const text = sql`replace(regexp_substr(cast(${column} as char), ${SHAPE}), 'T', ' ')`;
  return sql`coalesce(cast(nullif(${text}, '') as datetime(3)), utc_timestamp(3))`;
};
