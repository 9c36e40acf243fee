import type { CompiledQuery, Dialect } from 'kysely';
import { membersOf } from '../store/members-of.js';
import type { TestConnection, TestStore } from '../store/store.js';

/** The same store, in which every statement of a process is rewritten on its way to the database. */
export function rewritingStore<DB>(store: TestStore<DB>, rewrite: (text: string) => string): TestStore<DB> {
  const rewritten = (connection: TestConnection): TestConnection => ({
    ...membersOf(connection),
    dialect: rewritingDialect(connection.dialect, rewrite),
  });
  return {
    ...membersOf(store),
    connect() {
      const connection = store.connect();
      return connection instanceof Promise ? connection.then(rewritten) : rewritten(connection);
    },
  };
}

function rewritingDialect(inner: Dialect, rewrite: (text: string) => string): Dialect {
  return {
    createAdapter: () => inner.createAdapter(),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createIntrospector: (db) => inner.createIntrospector(db),
    createDriver() {
      const driver = inner.createDriver();
      const acquire = driver.acquireConnection.bind(driver);
      driver.acquireConnection = async () => {
        const connection = await acquire();
        const execute = connection.executeQuery.bind(connection);
        connection.executeQuery = <R>(query: CompiledQuery) => execute<R>({ ...query, sql: rewrite(query.sql) });
        return connection;
      };
      return driver;
    },
  };
}
