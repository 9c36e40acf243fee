/** What a column can hold, as far as the library must know. */
export type Holds =
  | 'number'
  | 'text'
  /** One of the `labels`. */
  | 'enum'
  | 'uuid'
  /** A day without a time, or a time without a day. */
  | 'date'
  /** An instant, whatever zone it is shown in. */
  | 'instant'
  /** A day and a time without a zone. */
  | 'local-time'
  | 'other';

/** One column of a table, as the catalogue has it. */
export interface ColumnFacts {
  readonly name: string;
  /** Its type, for people. */
  readonly type: string;
  readonly holds: Holds;
  /** The most characters that it takes; `null` for any number. */
  readonly room: number | null;
  /** The digits of a second that it keeps; `null` where that is not known. */
  readonly digits: number | null;
  readonly labels: readonly string[];
  readonly notNull: boolean;
  /** True if the database computes it. */
  readonly generated: boolean;
  /** True if no two rows can have the same value in it: a full unique index is on it alone. */
  readonly unique: boolean;
}

/** One table, as the catalogue has it. */
export interface TableFacts {
  /** True if a statement can write it: false of a view that stands for no rows of its own. */
  readonly writable: boolean;
  /** The storage engine, where there are several. */
  readonly engine: string | null;
  /** A trigger that runs with each update. */
  readonly trigger: string | null;
  /** True if this session may read it. */
  readonly readable: boolean;
  readonly columns: readonly ColumnFacts[];
}
