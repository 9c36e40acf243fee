import { classifier, notApplied, unknownOutcome } from './classified.js';

/** What a MySQL or MariaDB error means, by the code of the driver: a killed connection has no number. */
export const classifyMysql = classifier({
  codes: [
    [/^ER_LOCK_DEADLOCK$/, notApplied('deadlock', true)],
    [/^ER_(LOCK_WAIT_TIMEOUT|LOCK_NOWAIT|CON_COUNT_ERROR|TOO_MANY_USER_CONNECTIONS)$/, notApplied('busy', true)],
    [/^ER_CHECKREAD$/, notApplied('serialization', true)],
    [
      /^ER_(DUP_ENTRY|BAD_NULL_ERROR|NO_REFERENCED_ROW|ROW_IS_REFERENCED|CONSTRAINT_FAILED)/,
      notApplied('constraint', false),
    ],
    [
      /^ER_(NO_SUCH_TABLE|BAD_FIELD_ERROR|PARSE_ERROR|BAD_DB_ERROR|(TABLE|COLUMN|DB)ACCESS_DENIED_ERROR)$/,
      notApplied('schema', false),
    ],
    [/^ER_(SERVER_SHUTDOWN|CONNECTION_KILLED|QUERY_INTERRUPTED)/, unknownOutcome('connection', true)],
    [/^ER_CLIENT_INTERACTION_TIMEOUT$/, notApplied('connection', true)],
    [/^ER_/, notApplied('other', false)],
    [/^PROTOCOL_(CONNECTION_LOST|ENQUEUE_AFTER)/, unknownOutcome('connection', true)],
  ],
  messages: [
    [/Pool is closed/i, notApplied('connection', false)],
    [/Queue limit reached|No connections available/i, notApplied('busy', true)],
    [/closed state|Connection lost/i, unknownOutcome('connection', true)],
  ],
});
