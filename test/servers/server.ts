import { Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely';
import { type Dialect, ensureSchema, mysqlDialect, postgresDialect } from 'transition-ownership';
import { lockWaits } from '../../src/testing/store/mysql-lock-waits.js';
import type { Row } from '../../src/testing/store/store.js';
import { type ContractProcess, type ProcessOptions, startProcess } from '../contract/process.js';
import { makeTaskTables } from '../contract/site.js';
import type { ContractStore, ContractTables } from '../contract/store.js';
import { makeDatabases, mysql, mysqlPool } from '../contract/stores/mysql.js';
import { makeSchemas, postgres, postgresPool } from '../contract/stores/postgres.js';

/** How the sessions of one process are opened. */
export interface Sessions {
  /** Statements that each session begins with. */
  readonly begin?: readonly string[];
  /** The most sessions. Default 4. */
  readonly max?: number;
  /** Another port than the server's own: that of a proxy. */
  readonly port?: number;
}

/** A server of several connections, as the tests of this folder need it. */
export interface TestServer {
  readonly name: string;
  readonly missing: string | undefined;
  readonly dialect: Dialect;
  readonly port: number;
  /** Makes an empty database with the caller's tables and those of the library. */
  make(name: string): Promise<Place>;
}

/** A database of a test. */
export interface Place {
  readonly db: Kysely<ContractTables>;
  /** Opens a handle of its own. */
  connect(sessions?: Sessions): Kysely<ContractTables>;
  /** Starts a process with a handle of its own. */
  process(sessions?: Sessions, options?: ProcessOptions): ContractProcess;
  /** Resolves when so many sessions wait for a lock. */
  waiting(sessions: number): Promise<void>;
  /** How many sessions wait for a lock now. */
  waits(): Promise<number>;
  /** Puts task 1 where it was and takes all leases away. */
  reset(): Promise<void>;
  /** Lets the lease of task 1 end, long ago. */
  expire(): Promise<void>;
  /** Closes all handles and removes the database. */
  drop(): Promise<void>;
}

type Open = (name: string, sessions: Sessions) => Kysely<ContractTables>;

function placeOf(
  name: string,
  open: Open,
  countWaits: (db: Kysely<ContractTables>) => Promise<number>,
  dropDatabase: () => Promise<void>,
): Place {
  const handles: Kysely<ContractTables>[] = [];
  const connect = (sessions: Sessions = {}): Kysely<ContractTables> => {
    const handle = open(name, sessions);
    handles.push(handle);
    return handle;
  };
  const db = connect();
  const waits = (): Promise<number> => countWaits(db);
  return {
    db,
    connect,
    waits,
    process: (sessions, options) => startProcess(connect(sessions), options),
    waiting: async (sessions) => {
      while ((await waits()) < sessions);
    },
    reset: async () => {
      await sql`delete from transition_lease`.execute(db);
      await sql`delete from tasks`.execute(db);
      await db
        .insertInto('tasks')
        .values({ id: 1, stage: 'deploy', note: null, moved_ms: null, updated_at: null })
        .execute();
    },
    expire: async () => {
      await sql`update transition_lease set expires_ms = expires_ms - 10000000 where task_id = 1`.execute(db);
    },
    drop: async () => {
      await Promise.all(handles.map((handle) => handle.destroy()));
      await dropDatabase();
    },
  };
}

async function prepared(place: Place, store: ContractStore): Promise<Place> {
  await makeTaskTables(place.db, store);
  (await ensureSchema(startProcess(place.db).ownership))._unsafeUnwrap();
  await place.reset();
  return place;
}

const portOf = (url: string | undefined, standard: number): number =>
  url === undefined || url === '' ? standard : Number(new URL(url).port || standard);

/** PostgreSQL. */
export const postgresServer: TestServer = {
  name: 'PostgreSQL',
  missing: postgres.missing,
  dialect: postgresDialect,
  port: portOf(process.env['TEST_POSTGRES_URL'], 5432),
  make: async (name) => {
    const drop = await makeSchemas(name);
    const open: Open = (schema, { begin = [], max = 4, port }) => {
      const pool = postgresPool(schema, { max, application_name: schema }, port);
      pool.on('connect', (client) => {
        client.on('error', () => {});
        for (const text of begin) void client.query(text);
      });
      return new Kysely({ dialect: new PostgresDialect({ pool }) });
    };
    const countWaits = async (db: Kysely<ContractTables>): Promise<number> => {
      const { rows } = await sql<{ waits: number }>`select count(*) as waits from pg_stat_activity
        where application_name = ${name} and wait_event_type = 'Lock'`.execute(db);
      return Number(rows[0]?.waits);
    };
    return prepared(placeOf(name, open, countWaits, drop), postgres);
  },
};

/** MySQL or MariaDB. */
export const mysqlServer: TestServer = {
  name: 'MySQL',
  missing: mysql.missing,
  dialect: mysqlDialect,
  port: portOf(process.env['TEST_MYSQL_URL'], 3306),
  make: async (name) => {
    const drop = await makeDatabases(name);
    const open: Open = (database, { begin = [], max = 4, port }) => {
      const pool = mysqlPool(database, { connectionLimit: max, ...(port !== undefined && { port }) });
      pool.on('connection', (connection) => {
        for (const text of begin) connection.query(text);
      });
      return new Kysely({ dialect: new MysqlDialect({ pool }) });
    };
    const countWaits = async (db: Kysely<ContractTables>): Promise<number> => {
      const sessions = await sql<{
        id: number;
      }>`select id from information_schema.processlist where db = ${name}`.execute(db);
      const query = async (text: string): Promise<readonly Row[]> =>
        (await sql<Row>`${sql.raw(text)}`.execute(db)).rows;
      const ids = sessions.rows.map(({ id }) => id);
      const waiting = await lockWaits(query, ids);
      return ids.filter((id) => waiting.has(id)).length;
    };
    return prepared(placeOf(name, open, countWaits, drop), mysql);
  },
};

/** Both kinds. */
export const servers: readonly TestServer[] = [postgresServer, mysqlServer];
