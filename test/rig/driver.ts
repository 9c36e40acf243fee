import BetterSqlite3 from 'better-sqlite3';

/** Calls `before` with each statement that better-sqlite3 is about to run, whoever prepared it; returns how to stop that. */
export function beforeEachStatement(before: (sql: string) => void): () => void {
  const prototype = BetterSqlite3.prototype as object;
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
