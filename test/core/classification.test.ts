import { type Classified, type Dialect, mysqlDialect, postgresDialect, sqliteDialect } from 'transition-ownership';
import { describe, expect, test } from 'vitest';

type Meaning = `${Classified['outcome']} ${Classified['kind']}${'' | ', may succeed later'}`;
/** An error by its code, by its words, or as the server numbers it where the driver has no name for it, or a wrong one. */
type Said =
  | string
  | { readonly message: string }
  | { readonly errno: number; readonly sqlState: string; code?: string }
  | { readonly code: string; readonly errcode: number };
type Told = readonly [error: Said, means: Meaning];

const sqlite: readonly Told[] = [
  ['SQLITE_BUSY', 'not-applied busy, may succeed later'],
  ['SQLITE_BUSY_SNAPSHOT', 'not-applied busy, may succeed later'],
  ['SQLITE_LOCKED_SHAREDCACHE', 'not-applied busy, may succeed later'],
  ['SQLITE_PROTOCOL', 'not-applied busy, may succeed later'],
  ['SQLITE_CONSTRAINT_UNIQUE', 'not-applied constraint'],
  ['SQLITE_CONSTRAINT_TRIGGER', 'not-applied constraint'],
  ['SQLITE_ERROR', 'not-applied schema'],
  ['SQLITE_FULL', 'not-applied other, may succeed later'],
  ['SQLITE_CANTOPEN', 'not-applied other, may succeed later'],
  ['SQLITE_READONLY', 'not-applied other'],
  ['SQLITE_READONLY_DBMOVED', 'not-applied other'],
  ['SQLITE_TOOBIG', 'not-applied other'],
  ['SQLITE_IOERR_WRITE', 'unknown other'],
  ['SQLITE_CORRUPT', 'unknown other'],
  [{ message: 'database is locked' }, 'not-applied busy, may succeed later'],
  [{ message: 'database table is locked: tasks' }, 'not-applied busy, may succeed later'],
  [{ message: 'UNIQUE constraint failed: transition_lease.task_id' }, 'not-applied constraint'],
  [{ message: 'no such table: transition_lease' }, 'not-applied schema'],
  [{ message: 'database or disk is full' }, 'not-applied other, may succeed later'],
  [{ message: 'attempt to write a readonly database' }, 'not-applied other'],
  [{ message: 'near "slect": syntax error' }, 'not-applied schema'],
  [{ message: 'The database connection is not open' }, 'not-applied connection'],
  [{ message: 'SQLite3 can only bind numbers, strings, bigints, buffers, and null' }, 'not-applied other'],
  [{ message: 'The bound string, buffer, or bigint is too big' }, 'not-applied other'],
  [{ message: 'Provided value cannot be bound to SQLite parameter 1.' }, 'not-applied other'],
  [{ message: 'BigInt value is too large to bind' }, 'not-applied other'],
  [{ message: 'database is not open' }, 'not-applied connection'],
  // node:sqlite: 261 is SQLITE_BUSY_RECOVERY, 1555 SQLITE_CONSTRAINT_PRIMARYKEY, 778 SQLITE_IOERR_WRITE.
  [{ code: 'ERR_SQLITE_ERROR', errcode: 261 }, 'not-applied busy, may succeed later'],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 1555 }, 'not-applied constraint'],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 1 }, 'not-applied schema'],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 13 }, 'not-applied other, may succeed later'],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 778 }, 'unknown other'],
];

const postgres: readonly Told[] = [
  ['40001', 'not-applied serialization, may succeed later'],
  ['40P01', 'not-applied deadlock, may succeed later'],
  ['55P03', 'not-applied busy, may succeed later'],
  ['53300', 'not-applied busy, may succeed later'],
  ['57P03', 'not-applied busy, may succeed later'],
  ['57P01', 'unknown connection, may succeed later'],
  ['57P02', 'unknown connection, may succeed later'],
  ['08006', 'unknown connection, may succeed later'],
  ['40003', 'unknown connection, may succeed later'],
  ['23505', 'not-applied constraint'],
  ['42P01', 'not-applied schema'],
  ['42501', 'not-applied schema'],
  ['3D000', 'not-applied schema'],
  ['3F000', 'not-applied schema'],
  ['25P02', 'not-applied other'],
  ['25006', 'not-applied other, may succeed later'],
  ['25P03', 'not-applied connection, may succeed later'],
  ['25P04', 'not-applied connection, may succeed later'],
  ['57P05', 'not-applied connection, may succeed later'],
  ['57014', 'not-applied busy, may succeed later'],
  ['55006', 'not-applied busy, may succeed later'],
  ['53100', 'not-applied busy, may succeed later'],
  ['40000', 'not-applied serialization, may succeed later'],
  ['57P04', 'not-applied other'],
  ['22001', 'not-applied other'],
  ['CONNECT_TIMEOUT', 'not-applied connection, may succeed later'],
  ['CONNECTION_ENDED', 'not-applied connection'],
  ['CONNECTION_CLOSED', 'unknown connection, may succeed later'],
  ['CONNECTION_DESTROYED', 'unknown connection, may succeed later'],
  ['UNDEFINED_VALUE', 'not-applied other'],
  ['MAX_PARAMETERS_EXCEEDED', 'not-applied other'],
  ['XX000', 'not-applied other'],
  [{ message: 'Connection terminated unexpectedly' }, 'unknown connection, may succeed later'],
  [
    { message: 'Client has encountered a connection error and is not queryable' },
    'unknown connection, may succeed later',
  ],
  [{ message: 'timeout exceeded when trying to connect' }, 'not-applied connection, may succeed later'],
  [{ message: 'Cannot use a pool after calling end on the pool' }, 'not-applied connection'],
];

const mysql: readonly Told[] = [
  ['ER_LOCK_DEADLOCK', 'not-applied deadlock, may succeed later'],
  ['ER_LOCK_WAIT_TIMEOUT', 'not-applied busy, may succeed later'],
  ['ER_LOCK_NOWAIT', 'not-applied busy, may succeed later'],
  ['ER_CON_COUNT_ERROR', 'not-applied busy, may succeed later'],
  ['ER_CHECKREAD', 'not-applied serialization, may succeed later'],
  ['ER_DUP_ENTRY', 'not-applied constraint'],
  ['ER_NO_REFERENCED_ROW_2', 'not-applied constraint'],
  ['ER_NO_SUCH_TABLE', 'not-applied schema'],
  ['ER_BAD_FIELD_ERROR', 'not-applied schema'],
  ['ER_PARSE_ERROR', 'not-applied schema'],
  ['ER_TABLEACCESS_DENIED_ERROR', 'not-applied schema'],
  ['ER_DBACCESS_DENIED_ERROR', 'not-applied schema'],
  ['ER_DATA_TOO_LONG', 'not-applied other'],
  ['WARN_DATA_TRUNCATED', 'not-applied other'],
  ['ER_ERROR_DURING_COMMIT', 'unknown other'],
  ['ER_QUERY_TIMEOUT', 'not-applied busy, may succeed later'],
  ['ER_LOCK_TABLE_FULL', 'not-applied busy, may succeed later'],
  ['ER_USER_LIMIT_REACHED', 'not-applied busy, may succeed later'],
  ['ER_TOO_MANY_CONCURRENT_TRXS', 'not-applied busy, may succeed later'],
  ['ER_OPTION_PREVENTS_STATEMENT', 'not-applied other, may succeed later'],
  ['ER_READ_ONLY_MODE', 'not-applied other, may succeed later'],
  ['ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', 'not-applied other, may succeed later'],
  ['ER_SERVER_OFFLINE_MODE', 'not-applied other, may succeed later'],
  ['ER_RECORD_FILE_FULL', 'not-applied other, may succeed later'],
  ['ER_TABLE_DEF_CHANGED', 'not-applied serialization, may succeed later'],
  ['ER_NEED_REPREPARE', 'not-applied serialization, may succeed later'],
  ['ER_TRANSACTION_ROLLBACK_DURING_COMMIT', 'not-applied serialization, may succeed later'],
  ['ER_USER_LOCK_DEADLOCK', 'not-applied deadlock, may succeed later'],
  ['ER_UNKNOWN_COM_ERROR', 'not-applied connection, may succeed later'],
  ['ER_CHECK_CONSTRAINT_VIOLATED', 'not-applied constraint'],
  ['ER_SESSION_WAS_KILLED', 'unknown connection, may succeed later'],
  [{ errno: 1969, sqlState: '70100' }, 'not-applied busy, may succeed later'],
  [{ errno: 1927, sqlState: '70100' }, 'unknown connection, may succeed later'],
  [{ errno: 1970, sqlState: '42000' }, 'not-applied other'],
  [{ errno: 4025, sqlState: '23000', code: 'ER_INNODB_AUTOEXTEND_SIZE_OUT_OF_RANGE' }, 'not-applied constraint'],
  ['ER_SERVER_SHUTDOWN', 'unknown connection, may succeed later'],
  ['ER_CONNECTION_KILLED', 'unknown connection, may succeed later'],
  ['ER_QUERY_INTERRUPTED', 'unknown connection, may succeed later'],
  ['ER_CLIENT_INTERACTION_TIMEOUT', 'not-applied connection, may succeed later'],
  ['PROTOCOL_CONNECTION_LOST', 'unknown connection, may succeed later'],
  ['PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR', 'unknown connection, may succeed later'],
  [{ message: "Can't add new command when connection is in closed state" }, 'unknown connection, may succeed later'],
  [{ message: 'Pool is closed.' }, 'not-applied connection'],
  [{ message: 'Queue limit reached.' }, 'not-applied busy, may succeed later'],
  [{ message: 'No connections available.' }, 'not-applied busy, may succeed later'],
];

/** What any driver over a socket, and Kysely itself, may say. */
const everywhere: readonly Told[] = [
  ['ECONNREFUSED', 'not-applied connection, may succeed later'],
  ['ENOENT', 'not-applied connection, may succeed later'],
  ['ENOTFOUND', 'not-applied connection, may succeed later'],
  ['EAI_AGAIN', 'not-applied connection, may succeed later'],
  ['ECONNRESET', 'unknown connection, may succeed later'],
  ['EPIPE', 'unknown connection, may succeed later'],
  ['ETIMEDOUT', 'unknown connection, may succeed later'],
  ['EHOSTUNREACH', 'unknown connection, may succeed later'],
  [{ message: 'driver has already been destroyed' }, 'not-applied connection'],
  [{ message: 'Transaction is already committed' }, 'not-applied other'],
  [{ message: 'Transaction is already rolled back' }, 'not-applied other'],
  [{ message: 'Transaction was rolled back instead of committed' }, 'not-applied other'],
  ['SOMETHING_NEW', 'unknown other'],
  [{ message: 'words that no rule knows' }, 'unknown other'],
];

function meaningOf(dialect: Dialect, error: unknown): Meaning {
  const { kind, outcome, retryable } = dialect.classify(error);
  return `${outcome} ${kind}${retryable ? ', may succeed later' : ''}`;
}

describe.each([
  ['sqliteDialect', sqliteDialect, sqlite],
  ['postgresDialect', postgresDialect, postgres],
  ['mysqlDialect', mysqlDialect, mysql],
] as const)('%s.classify', (_, dialect, own) => {
  test.each([...own, ...everywhere])('takes %o for %s', (said, means) => {
    const { message = '…', ...parts } = typeof said === 'string' ? { code: said } : { message: undefined, ...said };
    const error = Object.assign(new Error(message), parts);
    expect(meaningOf(dialect, error)).toBe(means);
  });

  test.each([undefined, null, 'text', 7, {}, { code: 7 }, { code: null }])('never throws: %o', (error) => {
    expect(meaningOf(dialect, error)).toBe('unknown other');
  });
});

test('a table that cannot be read is never taken for one that is missing', () => {
  const denied = { code: '42501' };
  expect(postgresDialect.classify(denied)).toEqual({ kind: 'schema', retryable: false, outcome: 'not-applied' });
  expect(sqliteDialect.classify({ code: 'SQLITE_BUSY' }).kind).toBe('busy');
  expect(sqliteDialect.classify({ code: 'SQLITE_CANTOPEN' }).kind).toBe('other');
});
