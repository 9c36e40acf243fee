import type { RawBuilder } from 'kysely';

/** A piece of SQL. */
export type Fragment<T = unknown> = RawBuilder<T>;

/** How the caller's own time columns are written and read where they are text or numbers; else by their type. */
export type TimeFormat = 'sqlite-text' | 'sqlite-seconds' | 'iso' | 'epoch-ms' | 'native';

/** How one time column is written and read: by a format, or as its type was found to be. */
export type StoredTime =
  | TimeFormat
  /** Of a type that stands for an instant whatever zone it is shown in. */
  | 'instant'
  /** Of a type without a zone, in UTC. */
  | 'utc';

/** The table that a change of the schema is about; without a schema it is in the database's own. */
export interface NamedTable {
  readonly schema: string | undefined;
  readonly table: string;
}
