import { Kysely, MysqlDialect, type MysqlPoolConnection, sql } from 'kysely';
import { callable, list, oneOf, optional, type Rule, requestOf, text } from '../../core/request.js';
import { type MysqlClient, MysqlServer, type MysqlSession } from './mysql-server.js';
import { onlyReads } from './only-reads.js';
import { ProcessSessions } from './server-sessions.js';
import type { AnyTables, Migrate, StoreErrors, TestStore } from './store.js';

/** How `mysqlStore` is made. */
export interface MysqlStoreOptions<DB> {
  /** Opens a connection: `() => mysql.createConnection(url)`. */
  readonly connect: () => MysqlClient | Promise<MysqlClient>;
  /** Makes the tables, once. */
  readonly migrate?: Migrate<DB>;
  /** The isolation of transactions that ask for none. Default: the server's, `repeatable read`. */
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
  } satisfies Readonly<Record<keyof MysqlStoreOptions<AnyTables>, Rule<unknown>>>,
  'options',
);

/**
 * MySQL or MariaDB, with real connections: their own locks, snapshots and isolation levels.
 *
 * The store makes a database of its own and drops it at `close`. A statement that waits for a lock is known by the
 * server's own list of transactions. The user needs the rights CREATE, DROP, PROCESS and to end its own connections.
 *
 * @example
 * ```ts
 * import mysql from 'mysql2';
 * import { mysqlStore } from 'transition-ownership/testing';
 * import { migrate } from './scenario.js';
 *
 * const connect = () => mysql.createConnection(process.env['DATABASE_URL'] ?? '');
 * const store = mysqlStore({ connect, migrate });
 * ```
 */
export function mysqlStore<DB = AnyTables>(options: MysqlStoreOptions<DB>): TestStore<DB> {
  check(options);
  const server = new MysqlServer(options);
  const shelf: MysqlSession[] = [];
  const admin = new Kysely<DB>({
    dialect: dialectOver(
      () => server.admin(),
      () => undefined,
    ),
  });
  let open: Promise<unknown> | undefined;
  return {
    name: `mysql${options.isolation === undefined ? '' : ` (${options.isolation})`}`,
    admin,
    // A variable of the session: no lock, and no snapshot of a transaction, keeps an old time.
    nowMs: sql<number>`@simulated_now_ms`,
    errors: mysqlErrors,
    open() {
      open ??= server
        .admin()
        .then(() => options.migrate?.(admin))
        .then(() => server.learn());
      return open.then(() => undefined);
    },
    async connect() {
      const sessions = new ProcessSessions<MysqlSession>(server, shelf);
      sessions.give(await sessions.take());
      return {
        dialect: dialectOver(
          () => sessions.take(),
          (session) => sessions.give(session),
        ),
        inTransaction: () => sessions.inTransaction(),
        blocked: () => sessions.blocked(),
        settled: () => sessions.settled(),
        kill: () => sessions.kill(),
      };
    },
    reset: () => server.reset(),
    setNow(nowMs) {
      server.nowMs = nowMs;
    },
    snapshot: () => server.snapshot(),
    readsOnly: (text) => onlyReads(text, server.known),
    isBusy: () => false,
    async close() {
      await server.query(`drop database if exists ${server.database}`);
      for (const { client } of shelf) client.destroy();
      (await server.admin()).client.destroy();
    },
  };
}

function dialectOver(take: () => Promise<MysqlSession>, give: (session: MysqlSession) => void): MysqlDialect {
  const connectionOf = (session: MysqlSession): MysqlPoolConnection => ({
    query: ((text: string, values: readonly unknown[], done: (error: unknown, rows?: unknown) => void) => {
      session.send(text, values).then(
        (rows) => done(null, rows),
        (error: unknown) => done(error),
      );
    }) as unknown as MysqlPoolConnection['query'],
    release: () => give(session),
  });
  return new MysqlDialect({
    pool: {
      getConnection: (done) =>
        void take().then(
          (session) => done(null, connectionOf(session)),
          (error: unknown) => done(error, undefined as never),
        ),
      end: (done) => done(undefined),
    },
  });
}

const coded = (code: string, errno: number, message: string) => Object.assign(new Error(message), { code, errno });

const mysqlErrors: StoreErrors = Object.freeze({
  failed: () => coded('ER_LOCK_DEADLOCK', 1213, 'injected: deadlock found when trying to get lock'),
  connectionLost: () => coded('PROTOCOL_CONNECTION_LOST', 0, 'injected: the statement ran, its reply was lost'),
  diskFull: () => coded('ER_RECORD_FILE_FULL', 1114, 'injected: the table is full'),
});
