import BetterSqlite3 from 'better-sqlite3';
import type { SqliteDialect } from 'kysely';
import { type OpenSqliteOptions, openNodeSqlite } from 'transition-ownership/node-sqlite';
import { openSqlite } from 'transition-ownership/sqlite';

/** What all drivers have. */
interface Connection {
  exec(sql: string): unknown;
  prepare(sql: string): { all(...parameters: readonly unknown[]): { readonly seen?: unknown }[] };
  close(): unknown;
}

/** Opens a file by one of the drivers. */
export interface Opener {
  readonly open: (file: string, options?: OpenSqliteOptions) => SqliteDialect;
  /** Opens a connection past the library. */
  readonly connect: (file: string) => Connection;
  /** Why this Node cannot, or `undefined`. */
  readonly missing: string | undefined;
}

const nodeSqlite = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as
  | { readonly DatabaseSync: new (file: string) => Connection }
  | undefined;

/** Why there is no `node:sqlite` to test, or `undefined`. */
export const missingNodeSqlite = nodeSqlite === undefined ? `Node ${process.version} has no node:sqlite` : undefined;

export const byBetterSqlite3: Opener = {
  open: openSqlite,
  connect: (file) => new BetterSqlite3(file),
  missing: undefined,
};

export const byNode: Opener = {
  open: openNodeSqlite,
  connect: (file) => {
    if (nodeSqlite === undefined) throw new Error(missingNodeSqlite);
    return new nodeSqlite.DatabaseSync(file);
  },
  missing: missingNodeSqlite,
};
