import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';

/** What every statement of a gated dialect passes through. */
export interface Gate {
  /** Decides when `run` really runs the statement, whether it does at all, and whether its answer is delivered. */
  statement<T>(text: string, parameters: readonly unknown[], run: () => Promise<T>): Promise<T>;
}

/**
 * Wraps any Kysely dialect so that each statement, begin, commit, rollback and savepoint passes through a gate.
 *
 * The wrapped driver always gets its own connection objects back: some keep private members on them.
 */
export function gatedDialect(inner: Dialect, gate: Gate): Dialect {
  return {
    createDriver: () => gatedDriver(inner.createDriver(), gate),
    createAdapter: () => inner.createAdapter(),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createIntrospector: (db) => inner.createIntrospector(db),
  };
}

function gatedDriver(inner: Driver, gate: Gate): Driver {
  const ungated = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const raw = (connection: DatabaseConnection) => ungated.get(connection) ?? connection;
  const gated: Driver = {
    init: (...options) => inner.init(...options),
    async acquireConnection(...options) {
      const connection = await inner.acquireConnection(...options);
      const wrapped = gatedConnection(connection, gate);
      ungated.set(wrapped, connection);
      return wrapped;
    },
    beginTransaction: (connection, settings) =>
      gate.statement(beginText(settings), [], () => inner.beginTransaction(raw(connection), settings)),
    commitTransaction: (connection) => gate.statement('commit', [], () => inner.commitTransaction(raw(connection))),
    rollbackTransaction: (connection) =>
      gate.statement('rollback', [], () => inner.rollbackTransaction(raw(connection))),
    releaseConnection: (connection, ...options) => inner.releaseConnection(raw(connection), ...options),
    destroy: (...options) => inner.destroy(...options),
  };
  // Kysely asks whether a driver has savepoints by looking for these members: they are there only if the inner has them.
  for (const [member, text] of [
    ['savepoint', 'savepoint'],
    ['rollbackToSavepoint', 'rollback to savepoint'],
    ['releaseSavepoint', 'release savepoint'],
  ] as const) {
    const call = inner[member]?.bind(inner);
    if (call === undefined) continue;
    gated[member] = (connection, name, compile) =>
      gate.statement(`${text} ${name}`, [], () => call(raw(connection), name, compile));
  }
  return gated;
}

function gatedConnection(inner: DatabaseConnection, gate: Gate): DatabaseConnection {
  return {
    executeQuery: <R>(query: CompiledQuery, ...options: []) =>
      gate.statement<QueryResult<R>>(query.sql, query.parameters, () => inner.executeQuery<R>(query, ...options)),
    async *streamQuery<R>(query: CompiledQuery, chunkSize: number) {
      const rows = inner.streamQuery<R>(query, chunkSize)[Symbol.asyncIterator]();
      for (;;) {
        const chunk = await gate.statement(`stream ${query.sql}`, query.parameters, () => rows.next());
        if (chunk.done === true) return;
        yield chunk.value;
      }
    },
  };
}

function beginText(settings: TransactionSettings): string {
  return ['begin', settings.isolationLevel, settings.accessMode].filter((part) => part !== undefined).join(' ');
}
