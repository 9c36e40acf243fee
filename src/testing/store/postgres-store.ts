import { Kysely, PostgresDialect, type PostgresPoolClient, sql } from 'kysely';
import { callable, list, oneOf, optional, type Rule, requestOf, text } from '../../core/request.js';
import { onlyReads } from './only-reads.js';
import { type PostgresClient, PostgresServer, type PostgresSession } from './postgres-server.js';
import { ProcessSessions } from './server-sessions.js';
import type { AnyTables, Migrate, StoreErrors, TestStore } from './store.js';

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

const check = requestOf(
  {
    migrate: optional(callable),
    connect: callable,
    isolation: optional(oneOf('read committed', 'repeatable read', 'serializable')),
    ignoreColumns: optional(list(text)),
  } satisfies Readonly<Record<keyof PostgresStoreOptions<AnyTables>, Rule<unknown>>>,
  'options',
);

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
  check(options);
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
        await server.learn();
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
    readsOnly: (text) => onlyReads(text, server.known),
    isBusy: () => false,
    async close() {
      await server.query(`drop schema if exists ${server.schema} cascade`);
      await Promise.all(shelf.map(({ client }) => client.end()));
      await server.close();
    },
  };
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
