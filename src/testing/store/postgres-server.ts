import type { PostgresPoolClient } from 'kysely';
import { calledFunctions, type KnownPure } from './only-reads.js';
import { answering, following, ownName, type Server, type Session } from './server-sessions.js';
import { type Row, realClockColumns } from './store.js';

/** What is used of a `Client` of pg. */
export interface PostgresClient {
  /** Sends a statement. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: Record<string, unknown>[] }>;
  /** Hangs up. */
  end(): Promise<void>;
  /** Hears of a connection that was ended by the server. */
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** One connection, as Kysely sees it. */
export interface PostgresSession extends Session {
  readonly client: PostgresClient;
  /** The client as Kysely sees it. */
  readonly gate: PostgresPoolClient & { readonly session: PostgresSession };
}

/** How the server is reached. */
export interface PostgresServerOptions {
  readonly connect: () => PostgresClient | Promise<PostgresClient>;
  readonly isolation?: string | undefined;
  readonly ignoreColumns?: readonly string[] | undefined;
}

/** The server behind `postgresStore`. */
export class PostgresServer implements Server<PostgresSession> {
  readonly schema = ownName();
  private readonly options: PostgresServerOptions;
  private first: Promise<PostgresSession> | undefined;
  private tables: readonly string[] = [];
  /** Nothing is, until `learn` has asked. */
  known: KnownPure = { isPure: () => false };

  constructor(options: PostgresServerOptions) {
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
    if (first) await answering(client.query(`create schema ${this.schema}`));
    await answering(client.query(`set search_path to ${this.schema}, public`));
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

  /** Asks which functions change nothing, and which views call one that may. A function of two kinds may act. */
  async learn(): Promise<void> {
    const functions = await this.query(
      "select proname as name, bool_and(provolatile <> 'v') as pure from pg_proc group by proname",
    );
    const pure = new Set(functions.filter((row) => row['pure'] === true).map((row) => String(row['name'])));
    const isPure = (name: string) => pure.has(name);
    const views = await this.query(
      "select viewname as name, definition from pg_views where schemaname not in ('pg_catalog', 'information_schema')",
    );
    const impure = views.filter((view) => calledFunctions(String(view['definition'])).some((name) => !isPure(name)));
    this.known = { isPure, impureViews: new Set(impure.map((view) => String(view['name']))) };
  }

  async close(): Promise<void> {
    await (await this.admin()).client.end();
  }
}
