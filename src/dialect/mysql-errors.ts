import { finding } from '../core/finding.js';
import { classifier, notApplied, ownCode, unknownOutcome } from './classified.js';
import type { Classified } from './dialect.js';

/** Errors of MariaDB's own, which the driver does not name, or names after another of MySQL's with that number. */
const MARIADB: Readonly<Record<string, string>> = Object.freeze({
  '1927 70100': 'ER_CONNECTION_KILLED',
  '1969 70100': 'ER_STATEMENT_TIMEOUT',
  '4025 23000': 'ER_CONSTRAINT_FAILED',
});

/** The name of an error; whatever else has a number was said by the server. */
function codeOf(error: object): string | undefined {
  const { errno, sqlState } = error as { readonly errno?: unknown; readonly sqlState?: unknown };
  const named = MARIADB[`${String(errno)} ${String(sqlState)}`] ?? ownCode(error);
  return named ?? (typeof errno === 'number' && typeof sqlState === 'string' ? 'ER_WITHOUT_A_NAME' : undefined);
}

/** What a session says that commits nothing by itself. */
export const AUTOCOMMIT_OFF = finding(
  'autocommit-off',
  'error',
  'A session of the pool has autocommit off, and would keep every write to itself: set autocommit = 1 in each.',
);

/** What the condition {@link Dialect.committing} raises. */
const NOT_COMMITTING: Classified = Object.freeze({
  ...notApplied('unsuitable', false),
  findings: Object.freeze([AUTOCOMMIT_OFF]),
});

/** By the code of the driver: a killed connection has no number. */
const classify = classifier({
  codeOf,
  codes: [
    [/^ER_(LOCK_DEADLOCK|USER_LOCK_DEADLOCK)$/, notApplied('deadlock', true)],
    [/^ER_(LOCK_WAIT_TIMEOUT|LOCK_NOWAIT|LOCK_ABORTED|LOCK_TABLE_FULL)$/, notApplied('busy', true)],
    [/^ER_(QUERY_TIMEOUT|STATEMENT_TIMEOUT)$/, notApplied('busy', true)],
    [/^ER_(CON_COUNT_ERROR|TOO_MANY_(USER_CONNECTIONS|CONCURRENT_TRXS)|USER_LIMIT_REACHED)$/, notApplied('busy', true)],
    [/^ER_(CHECKREAD|TABLE_DEF_CHANGED|NEED_REPREPARE)$/, notApplied('serialization', true)],
    [/^ER_(TRANSACTION_ROLLBACK_DURING_COMMIT|RUN_HOOK_ERROR)$/, notApplied('serialization', true)],
    // A server, or a session, that may not write now is on its way to become the primary, or no more so.
    [/^ER_(OPTION_PREVENTS_STATEMENT|READ_ONLY_MODE|OPEN_AS_READONLY)$/, notApplied('other', true)],
    [/^ER_(CANT_EXECUTE_IN_READ_ONLY_TRANSACTION|SERVER_OFFLINE_MODE)$/, notApplied('other', true)],
    [/^ER_(DISK_FULL|RECORD_FILE_FULL|OUTOFMEMORY|OUT_OF_(RESOURCES|SORTMEMORY))$/, notApplied('other', true)],
    // A node of a cluster that is not ready for statements.
    [/^ER_UNKNOWN_COM_ERROR$/, notApplied('connection', true)],
    [
      /^ER_(DUP_ENTRY|BAD_NULL_ERROR|NO_REFERENCED_ROW|ROW_IS_REFERENCED|CONSTRAINT_FAILED|CHECK_CONSTRAINT)/,
      notApplied('constraint', false),
    ],
    [
      /^ER_(NO_SUCH_TABLE|BAD_FIELD_ERROR|PARSE_ERROR|BAD_DB_ERROR|(TABLE|COLUMN|DB)ACCESS_DENIED_ERROR)$/,
      notApplied('schema', false),
    ],
    [
      /^ER_(SERVER_SHUTDOWN|CONNECTION_KILLED|SESSION_WAS_KILLED|QUERY_INTERRUPTED)/,
      unknownOutcome('connection', true),
    ],
    // The server names the moment, and not what became of it.
    [/^ER_ERROR_DURING_COMMIT$/, unknownOutcome('other', false)],
    [/^ER_CLIENT_INTERACTION_TIMEOUT$/, notApplied('connection', true)],
    // In strict mode the server stops by what is otherwise a warning.
    [/^(ER|WARN)_/, notApplied('other', false)],
    [/^PROTOCOL_(CONNECTION_LOST|ENQUEUE_AFTER)/, unknownOutcome('connection', true)],
  ],
  messages: [
    [/Pool is closed/i, notApplied('connection', false)],
    [/Queue limit reached|No connections available/i, notApplied('busy', true)],
    [/closed state|Connection lost/i, unknownOutcome('connection', true)],
  ],
});

/** What a MySQL or MariaDB error means. */
export function classifyMysql(error: unknown): Classified {
  const isOurs = error instanceof Error && /out of range in .*autocommit/.test(error.message);
  return isOurs ? NOT_COMMITTING : classify(error);
}

/**
 * An UPDATE by rows that it chooses itself goes by the key, and is refused where sql_safe_updates is set: there the
 * setting is put aside for the one statement. Each server passes over the other's way to say so.
 */
export function insistOnUpdate(error: unknown, text: string): string | undefined {
  if (!(error instanceof Error) || codeOf(error) !== 'ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE') return undefined;
  const hinted = text.replace(/^\s*update\b/i, 'update /*+ set_var(sql_safe_updates = 0) */');
  return `/*M!100201 set statement sql_safe_updates = 0 for */ ${hinted}`;
}

/** After these the server has rolled the whole transaction back, and goes on as if there had been none. */
export function endsMysqlTransaction(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null ? codeOf(error) : undefined;
  return /^ER_(LOCK_DEADLOCK|CHECKREAD|LOCK_TABLE_FULL|TRANSACTION_ROLLBACK_DURING_COMMIT)$/.test(code ?? '');
}
