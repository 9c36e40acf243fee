import { codeOf, messageOf, notApplied, unknownOutcome } from './classified.js';
import type { Classified } from './dialect.js';

const RULES: readonly (readonly [RegExp, Classified])[] = [
  [/^SQLITE_(BUSY|LOCKED)/, notApplied('busy', true)],
  [/^SQLITE_CONSTRAINT/, notApplied('constraint', false)],
  [/^SQLITE_(ERROR|SCHEMA|RANGE|MISMATCH)/, notApplied('schema', false)],
  [/^SQLITE_(FULL|NOMEM|READONLY|CANTOPEN|PERM|AUTH|TOOBIG)/, notApplied('other', true)],
];

/**
 * What an SQLite error means. Drivers without SQLite's own codes are told by SQLite's own words.
 */
export function classifySqlite(error: unknown): Classified {
  const code = codeOf(error);
  const rule = RULES.find(([pattern]) => pattern.test(code));
  if (rule !== undefined) return rule[1];
  const message = messageOf(error);
  if (/database (table )?is locked/.test(message)) return notApplied('busy', true);
  if (/constraint failed/.test(message)) return notApplied('constraint', false);
  if (/no such (table|column)|syntax error/.test(message)) return notApplied('schema', false);
  if (/connection is not open|driver has already been destroyed|database is closed/.test(message)) {
    return notApplied('connection', false);
  }
  return unknownOutcome('other', false);
}
