import { ownCode } from './classified.js';

/** SQLite's own names of its result codes, https://www.sqlite.org/rescode.html. */
const NAMES: Readonly<Record<number, string>> = {
  1: 'SQLITE_ERROR',
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  7: 'SQLITE_NOMEM',
  8: 'SQLITE_READONLY',
  9: 'SQLITE_INTERRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
  17: 'SQLITE_SCHEMA',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  23: 'SQLITE_AUTH',
  25: 'SQLITE_RANGE',
};

/** The code of an SQLite error by SQLite's name; node:sqlite has one code of its own for all and gives the number. */
export function sqliteCode(error: object): string | undefined {
  const code = ownCode(error);
  if (code !== 'ERR_SQLITE_ERROR' || !('errcode' in error) || typeof error.errcode !== 'number') return code;
  // The low byte is the primary code.
  return NAMES[error.errcode & 0xff] ?? code;
}
