import { codeOf, messageOf, notApplied, unknownOutcome } from './classified.js';
import type { Classified } from './dialect.js';

const RULES: readonly (readonly [RegExp, Classified])[] = [
  [/^ER_LOCK_DEADLOCK$/, notApplied('deadlock', true)],
  [/^ER_(LOCK_WAIT_TIMEOUT|LOCK_NOWAIT|CON_COUNT_ERROR|TOO_MANY_USER_CONNECTIONS)$/, notApplied('busy', true)],
  [/^ER_CHECKREAD$/, notApplied('serialization', true)],
  [
    /^ER_(DUP_ENTRY|BAD_NULL_ERROR|NO_REFERENCED_ROW|ROW_IS_REFERENCED|CONSTRAINT_FAILED)/,
    notApplied('constraint', false),
  ],
  [
    /^ER_(NO_SUCH_TABLE|BAD_FIELD_ERROR|PARSE_ERROR|BAD_DB_ERROR|TABLEACCESS_DENIED_ERROR)$/,
    notApplied('schema', false),
  ],
  [/^ECONNREFUSED$/, notApplied('connection', true)],
  [
    /^(PROTOCOL_CONNECTION_LOST|PROTOCOL_ENQUEUE_AFTER|ECONNRESET|EPIPE|ETIMEDOUT|ER_SERVER_SHUTDOWN|ER_CONNECTION_KILLED|ER_QUERY_INTERRUPTED)/,
    unknownOutcome('connection', true),
  ],
  [/^ER_/, notApplied('other', false)],
];

/** What a MySQL or MariaDB error means, by the code of the driver: a killed connection has no number. */
export function classifyMysql(error: unknown): Classified {
  const code = codeOf(error);
  const rule = RULES.find(([pattern]) => pattern.test(code));
  if (rule !== undefined) return rule[1];
  if (/closed state|Connection lost|Pool is closed/i.test(messageOf(error))) return unknownOutcome('connection', true);
  return unknownOutcome('other', false);
}
