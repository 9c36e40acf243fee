import { Kysely, PostgresDialect, type PostgresPoolClient, sql } from 'kysely';
import { following, ownName, ProcessSessions, type Server, type Session } from './server-sessions.js';
import { type AnyTables, type Migrate, type Row, realClockColumns, type StoreErrors, type TestStore } from './store.js';

/** What is used of a `Client` of pg. */
export interface PostgresClient {
  /** Sends a statement. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: Record<string, unknown>[] }>;
  /** Hangs up. */
  end(): Promise<void>;
  /** Hears of a connection that was ended by the server. */
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** How `postgresStore` is made. */
export interface PostgresStoreOptions<DB> {
  /** Opens a connection: `async () => { const client = new pg.Client(url); await client.connect(); return client; }`. */
  readonly connect: () => Promise<PostgresClient>;
  /** Makes the tables, once. */
  readonly migrate?: Migrate<DB>;
  /** The isolation of transactions that ask for none. Default: `read committed`. */
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
  /** Columns left out of snapshots because a real clock fills them. Default: `acquired_at`. */
  readonly ignoreColumns?: readonly string[];
}

/**
 * PostgreSQL, with real connections: its own locks, snapshots and isolation levels.
 *
 * The store makes a schema of its own, puts it first in the search path of every connection, and drops it at `close`.
 * A statement that waits for a lock is known by `pg_blocking_pids`. The role must own its backends (to end them, which
 * is what a crash is) and may create schemas. About 100 schedules a second.
 *
 * @example
 * ```ts
 * import pg from 'pg';
 * import { postgresStore } from 'transition-ownership/testing';
 * import { migrate } from './scenario.js';
 *
 * const connect = async (): Promise<pg.Client> => {
 *   const client = new pg.Client(process.env['DATABASE_URL']);
 *   await client.connect();
 *   return client;
 * };
 * const store = postgresStore({ connect, migrate, isolation: 'read committed' });
 * ```
 */
export function postgresStore<DB = AnyTables>(options: PostgresStoreOptions<DB>): TestStore<DB> {
  const server = new PostgresServer(options);
  const shelf: PostgresSession[] = [];
  const admin = new Kysely<DB>({ dialect: dialectOver(async () => (await server.admin()).client) });
  let open: Promise<void> | undefined;
  return {
    name: `postgres (${options.isolation ?? 'read committed'})`,
    admin,
    // A sequence: what is set is seen by every session at once, in whatever transaction, and no lock is taken.
    nowMs: sql<number>`(select last_value from simulated_clock)`,
    errors: postgresErrors,
    open() {
      open ??= (async () => {
        await server.query('create sequence simulated_clock minvalue 0');
        await options.migrate?.(admin);
      })();
      return open;
    },
    async connect() {
      const sessions = new ProcessSessions<PostgresSession>(server, shelf);
      sessions.give(await sessions.take());
      return {
        dialect: dialectOver(
          async () => (await sessions.take()).gate,
          (client) => sessions.give(client.session),
        ),
        inTransaction: () => sessions.inTransaction(),
        blocked: () => sessions.blocked(),
        async refuse() {
          await sessions.cancel();
          return coded('40P01', 'deadlock detected');
        },
        settled: () => sessions.settled(),
        kill: () => sessions.kill(),
      };
    },
    reset: () => server.reset(),
    setNow: async (nowMs) => void (await server.query('select setval($1, $2)', ['simulated_clock', nowMs])),
    snapshot: () => server.snapshot(),
    isBusy: () => false,
    async close() {
      await server.query(`drop schema if exists ${server.schema} cascade`);
      await Promise.all(shelf.map(({ client }) => client.end()));
      await server.close();
    },
  };
}

interface PostgresSession extends Session {
  readonly client: PostgresClient;
  /** The client as Kysely sees it. */
  readonly gate: PostgresPoolClient & { readonly session: PostgresSession };
}

class PostgresServer implements Server<PostgresSession> {
  readonly schema = ownName();
  private readonly options: Pick<PostgresStoreOptions<never>, 'connect' | 'isolation' | 'ignoreColumns'>;
  private first: Promise<PostgresSession> | undefined;
  private tables: readonly string[] = [];

  constructor(options: Pick<PostgresStoreOptions<never>, 'connect' | 'isolation' | 'ignoreColumns'>) {
    this.options = options;
  }

  async admin(): Promise<PostgresSession> {
    this.first ??= this.open(true);
    return this.first;
  }

  async query(text: string, values: unknown[] = []): Promise<readonly Row[]> {
    return (await (await this.admin()).client.query(text, values)).rows;
  }

  async open(first = false): Promise<PostgresSession> {
    const client = await this.options.connect();
    client.on('error', () => undefined);
    if (first) await client.query(`create schema ${this.schema}`);
    await client.query(`set search_path to ${this.schema}, public`);
    // Which statement a deadlock costs would depend on real time: the world decides, long before the server looks.
    await client.query("set deadlock_timeout to '60s'").catch(() => undefined);
    await client.query(`set default_transaction_isolation to '${this.options.isolation ?? 'read committed'}'`);
    const { rows } = await client.query('select pg_backend_pid() as pid');
    const session: PostgresSession = {
      id: Number(rows[0]?.['pid']),
      client,
      inTransaction: false,
      busy: false,
      spoilt: false,
      gate: {
        get session() {
          return session;
        },
        query: ((text: string, values: readonly unknown[]) =>
          following(session, text, () => client.query(text, [...values]))) as PostgresPoolClient['query'],
        release: () => undefined,
      },
    };
    return session;
  }

  async terminate({ id, client }: PostgresSession): Promise<void> {
    await this.query('select pg_terminate_backend($1, 1000)', [id]);
    await client.end().catch(() => undefined);
  }

  async cancel({ id }: PostgresSession): Promise<void> {
    await this.query('select pg_cancel_backend($1)', [id]);
  }

  async waiting(sessions: readonly PostgresSession[]): Promise<ReadonlySet<number>> {
    const rows = await this.query(
      'select pid from unnest($1::int[]) as pid where cardinality(pg_blocking_pids(pid)) > 0',
      [sessions.map((session) => session.id)],
    );
    return new Set(rows.map((row) => Number(row['pid'])));
  }

  async reset(): Promise<void> {
    const rows = await this.query(
      'select quote_ident(tablename) as name from pg_tables where schemaname = current_schema() order by 1',
    );
    this.tables = rows.map((row) => String(row['name']));
    if (this.tables.length > 0) await this.query(`truncate ${this.tables.join(', ')} restart identity`);
  }

  async snapshot(): Promise<Record<string, readonly Row[]>> {
    const ignored = this.options.ignoreColumns ?? realClockColumns;
    const parts = this.tables.map(
      (table) =>
        `(select coalesce(jsonb_agg(r order by r::text), '[]') from (select to_jsonb(t) - $1::text[] as r from ${table} t) rows) as ${table}`,
    );
    const sequences = `(select coalesce(jsonb_agg(jsonb_build_object('name', sequencename, 'last', last_value) order by sequencename), '[]') from pg_sequences where schemaname = current_schema() and sequencename <> 'simulated_clock') as "sequences of ids"`;
    const rows = await this.query(`select ${[...parts, sequences].join(', ')}`, [ignored]);
    return rows[0] as Record<string, readonly Row[]>;
  }

  async close(): Promise<void> {
    await (await this.admin()).client.end();
  }
}

function dialectOver<C extends PostgresPoolClient>(
  take: () => Promise<PostgresClient | C>,
  give: (client: C) => void = () => undefined,
): PostgresDialect {
  const connect = async () => {
    const client = await take();
    return { query: client.query.bind(client), release: () => give(client as C) } as unknown as PostgresPoolClient;
  };
  return new PostgresDialect({ pool: { connect, end: () => Promise.resolve() } });
}

const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

const postgresErrors: StoreErrors = Object.freeze({
  failed: () => coded('40001', 'injected: could not serialize access'),
  connectionLost: () => coded('ECONNRESET', 'injected: the statement ran, its reply was lost'),
  diskFull: () => coded('53100', 'injected: could not extend file: no space left on device'),
});
