import { Kysely, MysqlDialect, PostgresDialect, type RawBuilder, sql } from 'kysely';
import { type Dialect, ensureSchema, mysqlDialect, postgresDialect } from 'transition-ownership';
import { lockWaits } from '../../src/testing/store/mysql-lock-waits.js';
import type { Row } from '../../src/testing/store/store.js';
import { type ContractProcess, type ProcessOptions, startProcess } from '../contract/process.js';
import { makeTaskTables } from '../contract/site.js';
import { type ContractStore, type ContractTables, ownName } from '../contract/store.js';
import { makeDatabases, mysql, mysqlAddress, mysqlPool } from '../contract/stores/mysql.js';
import { makeSchemas, postgres, postgresAddress, postgresPool } from '../contract/stores/postgres.js';
import type { ServerAddress } from '../process/child/on-server.js';

/** How the sessions of one process are opened. */
export interface Sessions {
  /** Statements that each session begins with. */
  readonly begin?: readonly string[];
  /** Somebody with no password and no rights but those granted. Default: whom the tests are told to be. */
  readonly as?: string;
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
  /** How a process of its own reaches it. */
  readonly address: ServerAddress;
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
  /** Ends every session but the test's own, as an administrator does. */
  endSessions(): Promise<void>;
  /** Keeps everybody out of the lease table, until what it answers is called. */
  lockLeases(): Promise<() => Promise<void>>;
  /** Closes all handles and removes the database. */
  drop(): Promise<void>;
}

type Database = Kysely<ContractTables>;

/** What differs from server to server. */
interface Means {
  readonly address: ServerAddress;
  readonly open: (sessions: Sessions) => Database;
  readonly countWaits: (db: Database) => Promise<number>;
  /** Reads the id of a session. */
  readonly idOf: (db: Database) => Promise<number>;
  /** The ids of all sessions on the database of the test. */
  readonly idsOf: (db: Database) => Promise<readonly number[]>;
  readonly endSession: (id: number) => string;
  readonly lock: string;
  readonly unlock: string;
  readonly remove: () => Promise<void>;
}

async function makePlace(store: ContractStore, means: Means): Promise<Place> {
  const handles: Database[] = [];
  const connect = (sessions: Sessions = {}): Database => {
    const handle = means.open(sessions);
    handles.push(handle);
    return handle;
  };
  const db = connect({ max: 1 });
  const kept = new Set([await means.idOf(db)]);
  const waits = (): Promise<number> => means.countWaits(db);
  const place: Place = {
    db,
    address: means.address,
    connect,
    waits,
    process: (sessions, options) => startProcess(connect(sessions), options),
    waiting: async (sessions) => {
      while ((await waits()) < sessions);
    },
    reset: async () => {
      await sql`delete from transition_lease`.execute(db);
      await sql`delete from tasks`.execute(db);
      const empty = { stage: 'deploy', note: null, moved_ms: null, updated_at: null };
      const tasks = Array.from({ length: 60 }, (_, at) => ({ id: at + 1, ...empty }));
      await db.insertInto('tasks').values(tasks).execute();
    },
    expire: async () => {
      await sql`update transition_lease set expires_ms = expires_ms - 10000000 where task_id = 1`.execute(db);
    },
    endSessions: async () => {
      const ids = (await means.idsOf(db)).filter((id) => !kept.has(id));
      for (const id of ids) await sql.raw(means.endSession(id)).execute(db);
    },
    lockLeases: async () => {
      const locker = connect({ max: 1 });
      kept.add(await means.idOf(locker));
      for (const text of means.lock.split(';')) await sql.raw(text).execute(locker);
      return async () => void (await sql.raw(means.unlock).execute(locker));
    },
    drop: async () => {
      await Promise.all(handles.map((handle) => handle.destroy()));
      await means.remove();
    },
  };
  await makeTaskTables(db, store);
  (await ensureSchema(startProcess(db).ownership))._unsafeUnwrap();
  await place.reset();
  return place;
}

const readId = async (query: RawBuilder<unknown>, db: Database): Promise<readonly number[]> =>
  (await query.execute(db)).rows.map((row) => Number((row as { id: number | string }).id));

const portOf = (url: string | undefined, standard: number): number =>
  url === undefined || url === '' ? standard : Number(new URL(url).port || standard);

/** PostgreSQL. */
export const postgresServer: TestServer = {
  name: 'PostgreSQL',
  missing: postgres.missing,
  dialect: postgresDialect,
  port: portOf(process.env['TEST_POSTGRES_URL'], 5432),
  make: async (place) => {
    const name = ownName(place);
    const remove = await makeSchemas(name);
    const sessions = sql`select pid as id from pg_stat_activity where application_name = ${name}`;
    return makePlace(postgres, {
      remove,
      address: { server: 'postgres', schema: name, connection: { ...postgresAddress(name), application_name: name } },
      open: ({ begin = [], as, max = 4, port }) => {
        const pool = postgresPool(name, { max, application_name: name }, port);
        pool.on('connect', (client) => {
          client.on('error', () => {});
          if (as !== undefined) void client.query(`set role ${as}`);
          for (const text of begin) void client.query(text);
        });
        return new Kysely({ dialect: new PostgresDialect({ pool }) });
      },
      countWaits: async (db) => (await readId(sql`${sessions} and wait_event_type = 'Lock'`, db)).length,
      idOf: async (db) => (await readId(sql`select pg_backend_pid() as id`, db))[0] ?? 0,
      idsOf: (db) => readId(sessions, db),
      endSession: (id) => `select pg_terminate_backend(${id})`,
      lock: 'begin;lock table transition_lease in access exclusive mode',
      unlock: 'commit',
    });
  },
};

/** MySQL or MariaDB. */
export const mysqlServer: TestServer = {
  name: 'MySQL',
  missing: mysql.missing,
  dialect: mysqlDialect,
  port: portOf(process.env['TEST_MYSQL_URL'], 3306),
  make: async (place) => {
    const name = ownName(place);
    const remove = await makeDatabases(name);
    const sessions = sql`select id from information_schema.processlist where db = ${name}`;
    return makePlace(mysql, {
      remove,
      address: { server: 'mysql', schema: name, connection: mysqlAddress(name) },
      open: ({ begin = [], as, max = 4, port }) => {
        const other = { ...(port !== undefined && { port }), ...(as !== undefined && { user: as, password: '' }) };
        const pool = mysqlPool(name, { connectionLimit: max, ...other }, begin);
        return new Kysely({ dialect: new MysqlDialect({ pool }) });
      },
      countWaits: async (db) => {
        const ids = await readId(sessions, db);
        const query = async (text: string): Promise<readonly Row[]> =>
          (await sql<Row>`${sql.raw(text)}`.execute(db)).rows;
        const waiting = await lockWaits(query, ids);
        return ids.filter((id) => waiting.has(id)).length;
      },
      idOf: async (db) => (await readId(sql`select connection_id() as id`, db))[0] ?? 0,
      idsOf: (db) => readId(sessions, db),
      endSession: (id) => `kill ${id}`,
      lock: 'lock tables transition_lease write',
      unlock: 'unlock tables',
    });
  },
};
