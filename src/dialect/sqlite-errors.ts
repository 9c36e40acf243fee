import { classifier, notApplied } from './classified.js';
import { sqliteCode } from './sqlite-code.js';

/** What an SQLite error means. Without SQLite's own codes, a driver's error is recognised by SQLite's own words. */
export const classifySqlite = classifier({
  codeOf: sqliteCode,
  codes: [
    [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, notApplied('busy', true)],
    [/^SQLITE_CONSTRAINT/, notApplied('constraint', false)],
    [/^SQLITE_(ERROR|SCHEMA|RANGE|MISMATCH)/, notApplied('schema', false)],
    [/^SQLITE_(FULL|NOMEM|CANTOPEN)/, notApplied('other', true)],
    [/^SQLITE_(READONLY|PERM|AUTH|TOOBIG|INTERRUPT)/, notApplied('other', false)],
  ],
  messages: [
    [/database (table )?is locked/, notApplied('busy', true)],
    [/constraint failed/, notApplied('constraint', false)],
    [/database or disk is full/, notApplied('other', true)],
    [/attempt to write a readonly database/, notApplied('other', false)],
    [/no such (table|column)|syntax error/, notApplied('schema', false)],
    // A value that no column can hold is refused before the statement runs: a boolean, an object, too great an integer.
    [/can only bind|cannot be bound|too (big|large)/, notApplied('other', false)],
    [/(connection|database) is not open|database is closed/, notApplied('connection', false)],
  ],
});

/** After these SQLite has rolled the whole transaction back by itself, or is about to. */
export function endsSqliteTransaction(error: unknown): boolean {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  return (
    /^SQLITE_(FULL|IOERR|NOMEM|CORRUPT)/.test(String(code)) || /disk is full|disk I\/O error/.test(String(message))
  );
}
