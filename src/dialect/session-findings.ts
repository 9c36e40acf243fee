import { type Finding, finding } from '../core/finding.js';
import type { Cells } from './looking.js';

/** Nothing can be written. */
export const READ_ONLY = finding(
  'read-only',
  'error',
  'The session, the server or the file is read-only, and nothing can be acquired there: connect to the primary, for writing.',
);

/** What is reported may have changed since. */
export const STALE_READS = finding(
  'stale-reads',
  'warning',
  'This server may be a standby, and what it shows may be old: look at leases and jobs on the primary.',
);

/** Sessions that the server leaves alone for ever. */
export function unbounded({ idle_timeout: idle, statement_timeout: statement }: Cells): readonly Finding[] {
  const isNone = (timeout: string | undefined): boolean => timeout !== undefined && Number.parseFloat(timeout) === 0;
  return [...(isNone(idle) ? [NO_IDLE_TIMEOUT] : []), ...(isNone(statement) ? [NO_STATEMENT_TIMEOUT] : [])];
}

const NO_IDLE_TIMEOUT = finding(
  'no-idle-timeout',
  'advice',
  'The server ends no transaction that its client has left open, and the locks of such a one stay: set a timeout for idle transactions.',
);
const NO_STATEMENT_TIMEOUT = finding(
  'no-statement-timeout',
  'advice',
  'The server ends no statement that hangs: set a timeout for the statements of these sessions, and give each request a signal, for a connection may hang as well.',
);
