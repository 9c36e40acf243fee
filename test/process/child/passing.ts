import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';

/** Sends a statement, or another in its place, or none. */
export type Pass = (
  query: CompiledQuery,
  send: (query: CompiledQuery) => Promise<QueryResult<unknown>>,
) => Promise<QueryResult<unknown>>;

/** A dialect of one connection, every statement of which goes through `pass`. */
export function passing(inner: Dialect, pass: Pass): Dialect {
  return {
    createAdapter: () => inner.createAdapter(),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createIntrospector: (db) => inner.createIntrospector(db),
    createDriver: () => passingDriver(inner.createDriver(), pass),
  };
}

function passingDriver(inner: Driver, pass: Pass): Driver {
  const handedOut = new WeakMap<DatabaseConnection, DatabaseConnection>();
  return {
    init: () => inner.init(),
    acquireConnection: async () => {
      const connection = await inner.acquireConnection();
      const passed = passingConnection(connection, pass);
      handedOut.set(passed, connection);
      return passed;
    },
    // The drivers only send these through the connection that they are handed.
    beginTransaction: (connection, settings) => inner.beginTransaction(connection, settings),
    commitTransaction: (connection) => inner.commitTransaction(connection),
    rollbackTransaction: (connection) => inner.rollbackTransaction(connection),
    releaseConnection: (connection) => inner.releaseConnection(handedOut.get(connection) ?? connection),
    destroy: () => inner.destroy(),
  };
}

function passingConnection(inner: DatabaseConnection, pass: Pass): DatabaseConnection {
  return {
    executeQuery: async <R>(query: CompiledQuery) =>
      (await pass(query, async (sent) => inner.executeQuery(sent))) as QueryResult<R>,
    streamQuery: (query, chunkSize) => inner.streamQuery(query, chunkSize),
  };
}
