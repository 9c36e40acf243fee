import type { SqliteStatement } from 'kysely';
import type { OpenedFile } from '../sqlite/opened-dialect.js';

/** What is used of `node:sqlite`, which the types of the oldest Node do not know. */
interface NodeSqlite {
  readonly DatabaseSync: new (file: string) => NodeDatabase;
}

interface NodeDatabase {
  /** From Node 22.16. */
  readonly isTransaction?: boolean;
  exec(sql: string): void;
  prepare(sql: string): NodeStatement;
  close(): void;
}

interface NodeStatement {
  all(...parameters: readonly unknown[]): unknown[];
  run(...parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  iterate(...parameters: readonly unknown[]): IterableIterator<unknown>;
  columns(): readonly unknown[];
  setReadBigInts(enabled: boolean): void;
}

/** Opens a file by `node:sqlite`, and shows it as Kysely and the library want to see one. */
export function openedFile(file: string): OpenedFile {
  const sqlite = process.getBuiltinModule?.('node:sqlite' as 'node:fs') as unknown as NodeSqlite | undefined;
  if (sqlite === undefined) throw new Error(missing());
  const database = new sqlite.DatabaseSync(file);
  if (database.isTransaction === undefined) {
    database.close();
    throw new Error(missing());
  }
  return {
    get inTransaction() {
      return database.isTransaction === true;
    },
    exec: (sql) => database.exec(sql),
    prepare: (sql) => statementOf(database, sql),
    close: () => database.close(),
  };
}

const missing = (): string =>
  `openNodeSqlite needs node:sqlite of Node 22.16 or newer, and this is Node ${process.version}: take a newer Node, or openSqlite of transition-ownership/sqlite.`;

function statementOf(database: NodeDatabase, sql: string): SqliteStatement {
  const statement = database.prepare(sql);
  const reader = statement.columns().length > 0;
  // Or an insert under a great id would have done its work and throw.
  if (!reader) statement.setReadBigInts(true);
  return {
    reader,
    all: (parameters) => statement.all(...parameters),
    run: (parameters) => statement.run(...parameters),
    // A statement that is kept may be run again before whoever iterates is done.
    iterate: (parameters) => database.prepare(sql).iterate(...parameters),
  };
}
