/**
 * PostgreSQL with the library’s statements prepared by name.
 *
 * @module transition-ownership/postgres
 */
import {
  type DatabaseConnection,
  PostgresDialect,
  type PostgresDialectConfig,
  type PostgresPool,
  type PostgresPoolClient,
} from 'kysely';
import { checkFunction } from '../core/check.js';
import { inspectValue } from '../core/inspect-value.js';
import { boolean, optional, type Rule, type RulesOf, requestOf } from '../core/request.js';
import { NamedStatements } from './named-statements.js';
import { NamingClient } from './naming-client.js';

/** How a server is reached. */
export interface OpenPostgresOptions {
  /** Your pool of `pg`, or a function that makes it at the first statement. `db.destroy()` ends it. */
  readonly pool: PostgresPool | (() => Promise<PostgresPool>);
  /**
   * Whether the server keeps the library's statements prepared, by name, in each session. Default `true`. Say `false`
   * behind PgBouncer in transaction mode before 1.21, or without its `max_prepared_statements`: a session there is not
   * the one that was given the name. Your own statements go as they always did.
   */
  readonly prepare?: boolean | undefined;
  /** The class of `pg-cursor`, if you stream, as Kysely's own dialect takes it. */
  readonly cursor?: PostgresDialectConfig['cursor'] | undefined;
}

type Cursor = NonNullable<PostgresDialectConfig['cursor']>;

const poolRule: Rule<OpenPostgresOptions['pool']> = (name) => (value) => {
  if (typeof value === 'function') return value as () => Promise<PostgresPool>;
  if (typeof value !== 'object' || value === null)
    throw new TypeError(`${name} must be a pool of pg, or a function that makes one, got ${inspectValue(value)}`);
  for (const part of ['connect', 'end']) checkFunction(`${name}.${part}`, Reflect.get(value, part));
  return value as PostgresPool;
};

const cursorRule: Rule<Cursor> = (name) => (value) => {
  checkFunction(name, value);
  return value as unknown as Cursor;
};

const check = requestOf(
  {
    pool: poolRule,
    prepare: optional(boolean, true),
    cursor: optional(cursorRule),
  } satisfies RulesOf<OpenPostgresOptions>,
  'options',
);

/**
 * Opens PostgreSQL as a Kysely dialect that has the library's statements prepared: the server parses each once a
 * session, which about halves what a transition costs. Kysely's own dialect can send text alone.
 *
 * A statement whose plan a migration has made unfit ("cached plan must not change result type") is sent again once. Where
 * a pooler between gives the session to others, which is seen at the first name that is not known, all go as text from
 * then on. Throws `TypeError` for options that are none.
 *
 * @example
 * ```ts
 * import { Kysely } from 'kysely';
 * import pg from 'pg';
 * import { openPostgres } from 'transition-ownership/postgres';
 *
 * const pool = new pg.Pool({ connectionString: 'postgres://127.0.0.1/orchestrator' });
 * const db = new Kysely<{ tasks: { id: number; stage: string } }>({ dialect: openPostgres({ pool }) });
 * await db.destroy();
 * ```
 */
export function openPostgres(options: OpenPostgresOptions): PostgresDialect {
  const { pool, prepare, cursor } = check(options);
  const statements = new NamedStatements({ prepare });
  return new PostgresDialect({
    pool: async () => naming(typeof pool === 'function' ? await pool() : pool, statements),
    onCreateConnection: async (connection) => watch(connection, statements),
    ...(cursor && { cursor }),
  });
}

/** Each client of the pool behind the one that names; the same for the same, for the driver knows its connections by them. */
function naming(pool: PostgresPool, statements: NamedStatements): PostgresPool {
  const clients = new WeakMap<PostgresPoolClient, NamingClient>();
  return {
    connect: async () => {
      const client = await pool.connect();
      let named = clients.get(client);
      if (named === undefined) {
        named = new NamingClient(client, statements);
        clients.set(client, named);
      }
      return named;
    },
    end: () => pool.end(),
  };
}

/** Only the connection sees whose a statement is: the client gets its text. */
function watch(connection: DatabaseConnection, statements: NamedStatements): void {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = (query, ...rest) => {
    statements.see(query);
    return execute(query, ...rest);
  };
}
