import type { StoreFailure } from '../core/failure.js';
import type { IdType } from '../core/id.js';
import type { Fragment, NamedTable, StoredTime, TimeFormat } from './fragment.js';
import type { Catalogue, SettingsCheck } from './looking.js';
import type {
  FreeInsert,
  ListedRows,
  SchemaLock,
  SecondLook,
  SwappedTables,
  TransactionLevel,
  UnlockedDelete,
  UnlockedUpdate,
} from './statement-parts.js';
import type { ColumnType, TableShape } from './table-shape.js';

export type { Fragment, NamedTable, StoredTime, TimeFormat } from './fragment.js';
export type {
  FreeInsert,
  KeyPart,
  ListedRows,
  SchemaLock,
  SecondLook,
  SwappedTables,
  TransactionLevel,
  UnlockedDelete,
  UnlockedUpdate,
} from './statement-parts.js';

/** What a driver's error means; `outcome` is that of a write that was in flight. */
export type Classified = Pick<StoreFailure, 'kind' | 'retryable' | 'outcome' | 'findings'>;

/**
 * Everything in which databases differ, one member for each difference.
 *
 * A dialect of your own is one of the three shipped ones with some members replaced.
 */
export interface Dialect {
  /** For people; nothing is ever decided by it. */
  readonly name: string;
  /** True if all statements share one connection, so that callers queue in front of it. */
  readonly oneConnection: boolean;
  /** True if INSERT, UPDATE and DELETE return rows. */
  readonly returning: boolean;
  /** True if one statement may write the stage and, depending on its rows, delete the lease. */
  readonly fusedRelease: boolean;
  /** True if every change of the schema commits at once, also in a transaction: a crash leaves an upgrade half done. */
  readonly schemaCommits: boolean;
  /** The format of the caller's time columns unless an option says otherwise. */
  readonly timeFormat: TimeFormat;

  /** The clock of the database as integer ms since the Unix epoch: of the statement, not of the transaction. */
  readonly nowMs: Fragment<number>;
  /** An instant given in epoch ms, which is now, as a value for a column of the caller. */
  instant(format: StoredTime, ms: Fragment<number>): Fragment;
  /** The caller's column that holds an instant, as epoch ms; null where it cannot be read. */
  epochMs(format: StoredTime, column: Fragment): Fragment<number>;
  /** The caller's column that holds an instant, as text that no other instant of the column has. */
  instantText(format: StoredTime, column: Fragment): Fragment<string>;

  /** The lesser of two numbers. */
  least(a: Fragment<number>, b: Fragment<number>): Fragment<number>;
  /** Null-safe comparison of two numbers. */
  same(a: Fragment, b: Fragment): Fragment<boolean>;
  /** Null-safe comparison of a text column with a value, byte by byte. */
  sameText(column: Fragment, value: Fragment): Fragment<boolean>;
  /** Comparison of the caller's id column with a value that is not null, byte by byte for text. */
  sameId(type: IdType, column: Fragment, value: Fragment): Fragment<boolean>;
  /** Whether a row of the caller's tasks is meant by an id, by the equality that the column has itself; never raises for a number. */
  meetsId(type: IdType, column: Fragment, id: Fragment): Fragment<boolean>;
  /** The caller's id as the lease table keeps it: as its row spells it, to be compared byte by byte. */
  keyOf(type: IdType, column: Fragment): Fragment;
  /** The ids of a list as the parameters of {@link Dialect.listed}: one for all of them, or more. */
  listParameters(type: IdType, ids: readonly unknown[]): readonly unknown[];
  /** The caller's rows whose ids are in a list, each as often and at each place as it is named there. */
  listed(type: IdType, column: Fragment, parameters: readonly Fragment[]): ListedRows;
  /** Ends a second look at a row, inside the INSERT; none where no one can have written it, or INSERT gives no rows. */
  readonly secondLook: SecondLook | undefined;
  /** An id, or other text of the caller, as it is read: a number where that is exact, else text as it was written. */
  readId(type: IdType, column: Fragment): Fragment;
  /**
   * True where the caller's id column holds an id of the type: within 2^53 - 1 for `integer` and 64 bits for
   * `bigint`, from 1 to 255 bytes for `text`. It changes no plan.
   */
  holdsId(type: IdType, column: Fragment): Fragment<boolean>;
  /** A list of values as one parameter of {@link Dialect.among}. */
  list(values: readonly unknown[]): unknown;
  /** Membership of a column in a list, given as one parameter. */
  among(column: Fragment, type: IdType, list: Fragment): Fragment<boolean>;
  /** A list of records, given as one JSON parameter, as the table `given`: the named columns, and `position`. */
  records(json: Fragment, columns: Readonly<Record<string, IdType>>): Fragment;

  /**
   * Moves the identity of a table of the library's own beyond a number and beyond its rows, never back; one row with
   * `moved`, the number that it gave last, or none where it was there already. `undefined` where a row that is inserted
   * with a number moves it.
   */
  readonly moveIdentity:
    | ((named: NamedTable, column: Fragment, beyond: Fragment<number>) => Fragment<{ moved: number | null }>)
    | undefined;
  /** An INSERT that passes over rows whose key is taken, in silence and without a lock that outlasts a share lock. */
  insertFree(insert: FreeInsert): Fragment;
  /** Locks the rows of a guard against deletion, not against renewal, until the statement's transaction ends. */
  readonly shareLock: Fragment;
  /** True if a transaction that has read may go on to see an old state, and only a write shows it: no lock of a read does. */
  readonly onlyWritesAreCurrent: boolean;
  /** Makes a read in a caller's transaction see the latest commit even where its snapshot is old. */
  readonly latest: Fragment;
  /** Ends a read so that its rows are locked for writing, in the order in which they are read. */
  readonly lockRows: Fragment;
  /** The same, passing over rows that another session has locked. */
  readonly lockFreeRows: Fragment;
  /** An UPDATE of those of the chosen rows that no one has locked; it waits for none. */
  updateUnlocked(update: UnlockedUpdate): Fragment;
  /** A DELETE of those of the rows that nobody has locked; it waits for none. */
  deleteUnlocked(remove: UnlockedDelete): Fragment;
  /** How a transaction is asked whether it sees what is committed; none where a plain read in it always does. */
  readonly transactionLevel?: TransactionLevel;
  /** Reads who has rows of a table locked, as far as the server tells: rows with one column `holder`, text for people. */
  lockHolders?(named: NamedTable): Fragment;
  /**
   * The text of an INSERT of the library so that the server ends its wait for a lock after `ms`, if it does not sooner:
   * who gives up waiting must not leave its connection behind. Nothing of it outlasts the statement.
   */
  boundWait?(insert: string, ms: number, inTransaction: boolean): string;
  /** True of an error after which the transaction in which it came cannot commit any more, or was rolled back. */
  endsTransaction?(error: unknown): boolean;
  /** True if any statement that fails leaves its transaction unfit for more, so that a look needs a savepoint. */
  readonly failuresEndTransactions?: boolean;

  /** Ends a read so that no setting of the session cuts its rows. */
  readonly allRows: Fragment;
  /**
   * The text of a condition that is true where the session commits each statement by itself, and raises elsewhere;
   * `undefined` where every session does. Where a transaction surrounds a statement it is left out.
   */
  readonly committing: string | undefined;

  /**
   * How a statement is spelled that a session has refused for a setting that is meant for people; `undefined` for one
   * that was refused for another reason.
   */
  readonly insist: ((error: unknown, text: string) => string | undefined) | undefined;
  /** Statements around a part of a transaction that may be undone alone. */
  readonly savepoint: { readonly set: Fragment; readonly undo: Fragment; readonly keep: Fragment };

  /** True of an error that says of a parameter that its type has no such value; none where a comparison never raises. */
  isNoValue?(error: unknown): boolean;
  /** Says what a driver's error means. */
  classify(error: unknown): Classified;

  /** The statements that create a table unless it exists. */
  createTable(name: Fragment, shape: TableShape): readonly Fragment[];
  /** Reads the column names of a table; no rows if there is no such table. */
  readColumns(named: NamedTable): Fragment<{ column_name: string }>;
  /** A claim for each row that was written before there were claims. */
  readonly randomClaim: Fragment<string>;
  /** A column of an older table, whose type no one knows, as a value for a column of this type. */
  carried(type: ColumnType, column: Fragment): Fragment;
  /** Puts a replacement in the place of a table, so that a crash in between leaves one of the two. */
  swapTables(tables: SwappedTables): readonly Fragment[];
  /** Statements around a change of the schema that let one process at a time through. */
  readonly schemaLock: SchemaLock;
  /** What to look at in the settings of a session, a server or a file. */
  readonly settings: SettingsCheck;
  /** How the tables are looked at. */
  readonly catalogue: Catalogue;
}
