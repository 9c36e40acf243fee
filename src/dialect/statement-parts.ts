import type { Fragment, NamedTable } from './fragment.js';

/** Rows to insert where their key is free. */
export interface FreeInsert {
  readonly table: Fragment;
  readonly columns: Fragment;
  /** The rows: `select … from …`, without a condition. */
  readonly rows: Fragment;
  /** The one row that `rows` gives, as a list of values, with the condition in it, where there is such a form. */
  readonly values?: Fragment;
  /** The columns that are unique together, each with its value in the rows. */
  readonly key: readonly [KeyPart, ...KeyPart[]];
  /** True if two of the rows may have one key: the first of them counts. */
  readonly mayRepeat?: boolean;
  /** What must be true besides. */
  readonly condition?: Fragment<boolean>;
  /** `order by …`. */
  readonly order?: Fragment;
}

/** How a row is looked at again. */
export interface SecondLook {
  /** Ends the SELECT: reads the latest commit, and passes over a row that somebody has locked. */
  readonly lock: Fragment;
  /** Two values of text as one, a JSON array. */
  pair(a: Fragment, b: Fragment): Fragment;
}

/** Rows that are chosen by {@link Dialect.listed}. */
export interface ListedRows {
  /** What the table is joined with: `, …`, or nothing. */
  readonly from: Fragment;
  readonly condition: Fragment<boolean>;
  /** The place in the list, from 1; only for the list of columns of a SELECT. */
  readonly position: Fragment;
}

/** A column of a key, and its value. */
export interface KeyPart {
  readonly column: Fragment;
  readonly value: Fragment;
}

/** Rows to update unless somebody has locked them. */
export interface UnlockedUpdate {
  readonly table: Fragment;
  readonly assignments: Fragment;
  /** The primary key, an integer, and the list of its values. */
  readonly key: Fragment;
  readonly keys: Fragment;
  /** What must be true of the chosen rows besides. */
  readonly condition: Fragment<boolean>;
}

/** A table and what is to stand in its place. */
export interface SwappedTables {
  readonly table: Fragment;
  readonly replacement: Fragment;
  /** The name that the old table may have for a moment. */
  readonly retired: Fragment;
  readonly named: NamedTable;
}

/** How one process at a time gets to change the schema. */
export interface SchemaLock {
  /** Sent first in the transaction of the change. One that answers a column `granted` other than 1 refuses. */
  enter(named: NamedTable): readonly Fragment[];
  /** Sent last, whatever happened. */
  leave(named: NamedTable): readonly Fragment[];
}

/** Rows to delete unless somebody has locked them. */
export interface UnlockedDelete {
  readonly table: Fragment;
  /** The primary key, an integer. */
  readonly key: Fragment;
  /** Which rows. */
  readonly condition: Fragment<boolean>;
  /** Ends the statement: `returning …`, or nothing where DELETE gives no rows. */
  readonly returning: Fragment;
}

/**
 * How a transaction that may go on to see an old state is asked whether it does: where it does not, who looks reads in
 * it, else over another connection, for a lock that makes a read see the latest commit stands in the way of its owner.
 */
export interface TransactionLevel {
  /** Statements that let the engine know of the transaction; none of them locks a row or fixes what it sees. */
  enter(table: Fragment): readonly Fragment[];
  /** Reads what the engine knows of it; `mark` is text that no other statement has. */
  read(mark: string): Fragment;
  /**
   * True if each statement sees what is committed when it begins, false if not, and `undefined` if the answer is not
   * about this very statement.
   */
  seesLatest(cells: Readonly<Record<'level' | 'query', string>>, mark: string): boolean | undefined;
}
