/** How much a finding matters: an `advice` does not spoil a check, for it may be followed already. */
export type FindingSeverity = 'error' | 'warning' | 'advice';

/** What a check can find. */
export type FindingCode =
  /** Leases are in the database's own schema, and the schema of `db` has none: which of the two is meant must be said. */
  | 'lease-elsewhere'
  /** The driver gives no rows for RETURNING, which the dialect counts on. */
  | 'no-returning'
  /** The driver does not say how many rows a statement changed, and the dialect has no other way to know. */
  | 'no-counts'
  /** The driver counts rows that a statement did not meet. */
  | 'wrong-counts'
  /** Text of the lease table does not compare byte by byte: two tasks could share a lease. */
  | 'text-not-binary'
  /** NULL and the empty string, or NULL and NULL, compare as they must not. */
  | 'null-not-a-value'
  /** An integer beyond 2^53 is not read exactly. */
  | 'big-ids-rounded'
  /** A transaction that was rolled back left something behind, or there are no transactions. */
  | 'no-rollback'
  /** The clock of the database goes backwards, or is no time. */
  | 'clock-unreadable'
  /** A power cut may take back what was acknowledged, an acquisition among it. */
  | 'commits-not-durable'
  /** The driver waits for locks so long that renewals, which it blocks meanwhile, come late. */
  | 'busy-timeout-too-long'
  /** A WAL on a network file system: locks and shared memory work on one host only. */
  | 'network-file-system'
  /** The type of the task's id column turns text into numbers: `'007'` and `'7'` become one. */
  | 'id-affinity'
  /** The session, the server or the file is read-only. */
  | 'read-only'
  /** The driver escapes text by backslashes, and the session takes a backslash for itself. */
  | 'backslashes-not-escapes'
  /** The tasks are in a table without transactions and row locks. */
  | 'no-row-locks'
  /** A trigger may rewrite a stage unseen, for this database gives no rows back. */
  | 'trigger-unseen'
  /** There is no such table. */
  | 'table-missing'
  /** A table lacks a column that is written or read. */
  | 'column-missing'
  /** This user of the database may not look at the catalogue. */
  | 'cannot-look'
  /** No unique index is on the id alone: writes are made in transactions that demand exactly one row. */
  | 'id-not-unique'
  /** Ids of one type in a column of another. */
  | 'id-type'
  /** The session does not commit a statement by itself. */
  | 'autocommit-off'
  /** Text that does not fit is cut, and an unknown value of an enumeration is emptied, without an error. */
  | 'not-strict'
  /** What is read may be old. */
  | 'stale-reads'
  /** A text column is shorter than a value that is written into it. */
  | 'text-too-short'
  /** An enumeration lacks a value that is written into it. */
  | 'enum-lacks'
  /** A column that is cleared cannot be NULL. */
  | 'not-null-cleared'
  /** A column that holds instants has no time of day, or no day. */
  | 'date-for-instant'
  /** A column that is written is computed by the database. */
  | 'generated-column'
  /** Rows of the library's own tables are of tasks that are not there. */
  | 'stray-rows'
  /** A time column without a zone is written and read in the zone of each session. */
  | 'zone-less-column'
  /** A time column keeps less than milliseconds. */
  | 'coarse-time'
  /** A transaction that is left open is never ended by the server. */
  | 'no-idle-timeout'
  /** A statement that hangs is never ended by the server. */
  | 'no-statement-timeout'
  /** The path of the database names another file than when it was first seen. */
  | 'file-replaced'
  /** The numbers of new leases are behind those of the rows. */
  | 'identity-behind'
  /** The driver writes a `Date` as another instant. */
  | 'driver-zone'
  /** The settings of the session could not be read. */
  | 'settings-unreadable'
  /** The pool of the driver needs an error listener of yours. */
  | 'pool-error-listener';

/** One thing that a check found, for people. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: FindingSeverity;
  /** The table that it is about, as the options name it; none where it is about the session, the server or the driver. */
  readonly table?: string;
  /** What was seen and what to do, in one or two sentences. */
  readonly message: string;
}

/** Makes a finding. */
export function finding(code: FindingCode, severity: FindingSeverity, message: string, table?: string): Finding {
  return Object.freeze({ code, severity, ...(table !== undefined && { table }), message });
}
