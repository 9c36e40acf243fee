import { type Dialect, Kysely, PostgresDialect, type RawBuilder, sql } from 'kysely';
import { PostgresJSDialect } from 'kysely-postgres-js';
import pg from 'pg';
import postgresJs from 'postgres';
import { openPostgres } from 'transition-ownership/postgres';
import { type ContractStore, type ContractTables, ownName, serverUrl } from '../store.js';

const { url, missing } = serverUrl('TEST_POSTGRES_URL');

/** The types of the caller's columns on PostgreSQL. */
export const postgresColumns = { integer: 'bigint', text: 'text', instant: 'timestamptz' } as const;

/** Without the zone of the session. */
export const postgresUtc = (column: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`(${column} at time zone 'UTC')::text`;

/** How a schema of the server is reached. */
export function postgresAddress(schema: string, port?: number): pg.PoolConfig {
  const address = new URL(url);
  if (port !== undefined) address.port = String(port);
  return { connectionString: address.href, options: `-c search_path=${schema}` };
}

/** Opens a pool whose sessions see a schema; what breaks while it is idle is not told to the process. */
export function postgresPool(schema: string, config: pg.PoolConfig = {}, port?: number): pg.Pool {
  const pool = new pg.Pool({ ...postgresAddress(schema, port), ...config });
  pool.on('error', () => {});
  return pool;
}

/** Makes the schemas of a test, empty. */
export async function makeSchemas(...schemas: readonly string[]): Promise<() => Promise<void>> {
  const drop = schemas.map((schema) => `drop schema if exists ${schema} cascade`).join(';');
  const run = async (text: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(text);
    await client.end();
  };
  await run(`${drop};${schemas.map((schema) => `create schema ${schema}`).join(';')}`);
  return () => run(drop);
}

/** The dialect of a handle whose sessions see a schema. */
type Connected = (schema: string) => Dialect;

const byPg =
  (settings: string): Connected =>
  (schema) =>
    new PostgresDialect({
      pool: postgresPool(schema, { max: 4, options: `-c search_path=${schema} ${settings}` }),
    });

/** By pg, with the library's statements prepared by name. */
const byName: Connected = (schema) => openPostgres({ pool: postgresPool(schema, { max: 4 }) });

/** By postgres.js. */
export const byPostgresJs: Connected = (schema) => {
  const client = postgresJs(url, { max: 4, connection: { search_path: schema }, onnotice: () => {} });
  const end = client.end.bind(client);
  // Without a bound it waits for a connection that a statement under way gives back after it.
  return new PostgresJSDialect({ postgres: Object.assign(client, { end: () => end({ timeout: 1 }) }) });
};

function postgresBy(name: string, place: string, connected: Connected): ContractStore {
  const schema = ownName(place);
  return {
    name,
    missing,
    columns: postgresColumns,
    utc: postgresUtc,
    schema: `${schema}_other`,
    open: async () => {
      const drop = await makeSchemas(schema, `${schema}_other`);
      return {
        connect: (log) =>
          new Kysely<ContractTables>({ dialect: connected(schema), log: ({ query }) => log(query.sql) }),
        close: drop,
      };
    },
  };
}

/** PostgreSQL by pg, each process with a pool of its own. */
export const postgres = postgresBy('PostgreSQL by pg', 'contract', byPg(''));

/** The same with the library's statements prepared by name. */
export const postgresByName = postgresBy('PostgreSQL by openPostgres', 'contract_by_name', byName);

/** The same by postgres.js, which serializes a parameter by the type that the server gives it. */
export const postgresByPostgresJs = postgresBy('PostgreSQL by postgres.js', 'contract_postgres_js', byPostgresJs);

/** The same in sessions that leave nothing as it comes. */
export const postgresElsewhere = postgresBy(
  'PostgreSQL by pg, serializable and in another zone',
  'contract_elsewhere',
  byPg('-c timezone=America/New_York -c default_transaction_isolation=serializable'),
);
