/** The type of a column of one of the library's own tables. */
export type ColumnType =
  /** The key that grows across deletes. */
  | 'token'
  /** Text that compares byte by byte, 255 bytes at most. */
  | 'text'
  /** Text of any length, never compared. */
  | 'long-text'
  /** A 64-bit integer. */
  | 'integer'
  /** An instant for people, stamped by the database. */
  | 'stamp';

/** One column. */
export interface ColumnShape {
  readonly name: string;
  readonly type: ColumnType;
  readonly notNull?: boolean;
}

/** One of the library's own tables, the same on every database. */
export interface TableShape {
  readonly columns: readonly ColumnShape[];
  /** The keys: columns that are unique together, and found by. */
  readonly unique: readonly (readonly string[])[];
}
