import { classifier, notApplied, unknownOutcome } from './classified.js';

/** What a PostgreSQL error means, by its SQLSTATE; a lost connection is recognised by the socket or by the driver's words. */
export const classifyPostgres = classifier({
  codes: [
    [/^(40001|40000|72000)$/, notApplied('serialization', true)],
    [/^40P01$/, notApplied('deadlock', true)],
    // 57014: a statement was cancelled, by its timeout or by an operator. 55006: an object in use.
    [/^(55P03|55006|57014)$/, notApplied('busy', true)],
    [/^(53[0-9A-Z]{3}|57P03)$/, notApplied('busy', true)],
    // The server ended the session between two statements, or the transaction at its timeout.
    [/^(25P03|25P04|57P05)$/, notApplied('connection', true)],
    // A standby, or a session that may only read: a failover ends it.
    [/^25006$/, notApplied('other', true)],
    [/^(08[0-9A-Z]{3}|57P0[12]|40003)$/, unknownOutcome('connection', true)],
    [/^23[0-9A-Z]{3}$/, notApplied('constraint', false)],
    [/^(42|3D|3F)[0-9A-Z]{3}$/, notApplied('schema', false)],
    [/^(?!E[A-Z]+$)[0-9A-Z]{5}$/, notApplied('other', false)],
    // Of the driver postgres.
    [/^CONNECT_TIMEOUT$/, notApplied('connection', true)],
    [/^CONNECTION_ENDED$/, notApplied('connection', false)],
    [/^(UNDEFINED_VALUE|MAX_PARAMETERS_EXCEEDED)$/, notApplied('other', false)],
    [/^CONNECTION_(CLOSED|DESTROYED)$/, unknownOutcome('connection', true)],
  ],
  messages: [
    [/timeout exceeded when trying to connect/, notApplied('connection', true)],
    [/Cannot use a pool after calling end/, notApplied('connection', false)],
    [/Connection terminated|connection error|not queryable|Client was closed/i, unknownOutcome('connection', true)],
  ],
});
