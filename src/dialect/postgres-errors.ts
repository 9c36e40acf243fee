import { codeOf, messageOf, notApplied, unknownOutcome } from './classified.js';
import type { Classified } from './dialect.js';

const RULES: readonly (readonly [RegExp, Classified])[] = [
  [/^40001$/, notApplied('serialization', true)],
  [/^40P01$/, notApplied('deadlock', true)],
  [/^55P03$/, notApplied('busy', true)],
  [/^(53|57P03)/, notApplied('busy', true)],
  [/^(08|57P0[12])/, unknownOutcome('connection', true)],
  [/^23/, notApplied('constraint', false)],
  [/^(42|3D|3F)/, notApplied('schema', false)],
  [/^ECONNREFUSED$/, notApplied('connection', true)],
  [/^(ECONNRESET|EPIPE|ETIMEDOUT|ENOTCONN)$/, unknownOutcome('connection', true)],
  [/^[0-9A-Z]{5}$/, notApplied('other', false)],
];

/** What a PostgreSQL error means, by its SQLSTATE; a lost connection is told by the socket or by the driver's words. */
export function classifyPostgres(error: unknown): Classified {
  const code = codeOf(error);
  const rule = RULES.find(([pattern]) => pattern.test(code));
  if (rule !== undefined) return rule[1];
  if (/Connection terminated|connection error|not queryable|Client was closed/i.test(messageOf(error))) {
    return unknownOutcome('connection', true);
  }
  return unknownOutcome('other', false);
}
