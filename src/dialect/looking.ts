import type { TableFacts } from '../core/catalogue.js';
import type { Finding, FindingCode } from '../core/finding.js';
import type { Fragment, NamedTable, StoredTime } from './fragment.js';

/** One row of a reply as text; NULLs are left out. */
export type Cells = Readonly<Record<string, string | undefined>>;

/** How tables are looked at: by one statement, with no function or cast that can raise whatever is there. */
export interface Catalogue {
  /** True if a name of a column may be spelled in capitals and not. */
  readonly foldsNames: boolean;
  /** What it is called that a column of numbers holds ids that are text. */
  readonly idTypeCode: FindingCode & ('id-type' | 'id-affinity');
  /** What a day and a time without a zone stand for where no one says: UTC, or the zone of each session. */
  readonly localTimes: 'UTC' | 'session';
  /** Reads the tables: rows with `at`, the place of their table in the list. */
  read(tables: readonly NamedTable[]): Fragment;
  /** What the rows of one table say; `undefined` if it is not there. */
  table(rows: readonly Cells[]): TableFacts | undefined;
}

/** What a check of settings is about. */
export interface SettingsNeeds {
  readonly lease: NamedTable;
  readonly ttlMs: number;
  /** The lease table, where it is there and can be read: its numbers are compared with those that come next. */
  readonly tokens?: Fragment | undefined;
  /** Instants that the driver is given as `Date`, and how the column that they are for is read. */
  readonly bound?: { readonly dates: readonly [Date, Date]; readonly as: StoredTime } | undefined;
}

/** Settings that make the library's promise weaker, and how they are reported. */
export interface SettingsCheck {
  /** Reads the settings as one row. */
  read(needs: SettingsNeeds): Fragment;
  /** What of them is risky or wrong. NULLs are left out; `file_system` is added where the row names a `file`. */
  judge(settings: Cells, needs: SettingsNeeds): readonly Finding[];
  /** True if the session is at UTC, or its zone does not matter. */
  isUtc(settings: Cells): boolean;
}
