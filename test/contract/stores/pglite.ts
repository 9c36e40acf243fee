import { PGlite } from '@electric-sql/pglite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { ContractStore, ContractTables } from '../store.js';
import { postgresColumns, postgresUtc } from './postgres.js';

/** PostgreSQL in the process: one session, so that one connection at a time has it. */
class PGliteDriver implements Driver {
  readonly #client: PGlite;
  #last: Promise<void> = Promise.resolve();
  readonly #done = new WeakMap<DatabaseConnection, () => void>();

  constructor(client: PGlite) {
    this.#client = client;
  }

  async init(): Promise<void> {
    await this.#client.waitReady;
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#last;
    const connection = new PGliteConnection(this.#client);
    this.#last = new Promise((resolve) => this.#done.set(connection, resolve));
    await before;
    return connection;
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#done.get(connection)?.();
  }

  async beginTransaction(): Promise<void> {
    await this.#client.exec('begin');
  }

  async commitTransaction(): Promise<void> {
    await this.#client.exec('commit');
  }

  async rollbackTransaction(): Promise<void> {
    await this.#client.exec('rollback');
  }

  async destroy(): Promise<void> {
    await this.#client.close();
  }
}

class PGliteConnection implements DatabaseConnection {
  readonly #client: PGlite;

  constructor(client: PGlite) {
    this.#client = client;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, affectedRows } = await this.#client.query<R>(sql, [...parameters]);
    return { rows, ...(affectedRows !== undefined && { numAffectedRows: BigInt(affectedRows) }) };
  }

  // biome-ignore lint/correctness/useYield: nothing here streams
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('PGlite does not stream');
  }
}

/** PGlite, all processes over one handle: there is one session. */
export const pglite: ContractStore = {
  name: 'PostgreSQL by PGlite',
  columns: postgresColumns,
  utc: postgresUtc,
  open: async () => {
    const logs: ((sql: string) => void)[] = [];
    const client = new PGlite();
    const db = new Kysely<ContractTables>({
      dialect: {
        createDriver: () => new PGliteDriver(client),
        createAdapter: () => new PostgresAdapter(),
        createQueryCompiler: () => new PostgresQueryCompiler(),
        createIntrospector: (handle) => new PostgresIntrospector(handle),
      },
      log: ({ query }) => {
        for (const log of logs) log(query.sql);
      },
    });
    return {
      connect: (log) => {
        logs.push(log);
        return db;
      },
      close: async () => {},
    };
  },
};
