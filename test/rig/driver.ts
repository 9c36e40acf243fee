import BetterSqlite3 from 'better-sqlite3';

/** The prototypes of the databases of all drivers that are there. */
function prototypes(): readonly object[] {
  const node = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as
    | { readonly DatabaseSync: { readonly prototype: object } }
    | undefined;
  return [BetterSqlite3.prototype, ...(node === undefined ? [] : [node.DatabaseSync.prototype])];
}

/** Calls `before` with each statement that a driver of SQLite is about to run, whoever prepared it; returns how to stop that. */
export function beforeEachStatement(before: (sql: string) => void): () => void {
  const stops = prototypes().map((prototype) => beforeEachOf(prototype, before));
  return () => {
    for (const stop of stops) stop();
  };
}

function beforeEachOf(prototype: object, before: (sql: string) => void): () => void {
  const own = Reflect.get(prototype, 'prepare') as (sql: string) => BetterSqlite3.Statement;
  Reflect.set(prototype, 'prepare', function (this: BetterSqlite3.Database, sql: string) {
    const prepared = own.call(this, sql);
    for (const name of ['all', 'run'] as const) {
      const call = Reflect.get(prepared, name) as (...parameters: unknown[]) => unknown;
      const value = (...parameters: unknown[]): unknown => {
        before(sql);
        return call.apply(prepared, parameters);
      };
      Object.defineProperty(prepared, name, { value, configurable: true });
    }
    return prepared;
  });
  return () => void Reflect.set(prototype, 'prepare', own);
}
