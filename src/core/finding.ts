/** How much a finding matters: an `advice` does not spoil a check, for it may be followed already. */
export type FindingSeverity = 'error' | 'warning' | 'advice';

/** What a check can find. */
export type FindingCode =
  /** Leases are in the database's own schema, and the schema of `db` has none: which of the two is meant must be said. */
  | 'lease-elsewhere'
  /** The driver gives no rows for RETURNING, which the dialect counts on. */
  | 'no-returning'
  /** The driver does not tell how many rows a statement changed, and the dialect has no other way to know. */
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
  /** The server answers as a standby or is read-only: what it says may be old. */
  | 'read-only'
  /** The driver escapes text by backslashes, and the session takes a backslash for itself. */
  | 'backslashes-not-escapes'
  /** The tasks are in a table without transactions and row locks. */
  | 'no-row-locks'
  /** A trigger may rewrite a stage unseen, for this database gives no rows back. */
  | 'trigger-unseen'
  /** The time column converts through the zone of the session, which is not UTC. */
  | 'zone-bearing-column'
  /** The settings of the session could not be read. */
  | 'settings-unreadable'
  /** The pool of the driver needs an error listener of yours. */
  | 'pool-error-listener';

/** One thing that a check found, for people. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: FindingSeverity;
  /** What was seen and what to do, in one or two sentences. */
  readonly message: string;
}

/** Makes a finding. */
export function finding(code: FindingCode, severity: FindingSeverity, message: string): Finding {
  return Object.freeze({ code, severity, message });
}
