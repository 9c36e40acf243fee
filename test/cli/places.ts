import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely';
import { openSqlite } from 'transition-ownership/sqlite';
import { ownName, serverUrl } from '../contract/store.js';
import { makeDatabases, mysqlPool } from '../contract/stores/mysql.js';
import { makeSchemas, postgresPool } from '../contract/stores/postgres.js';
import { temporaryFolder } from '../contract/stores/sqlite.js';

/** The tables of a small orchestrator, and those of the library. */
export interface Tables {
  tasks: { id: number; stage: string };
  jobs: {
    id: number;
    task_id: number | null;
    status: string;
    run_id: number | null;
    pid: number | null;
    started_at: string | null;
    finished_at: string | null;
  };
  transition_lease: { task_id: number; fencing_token: number; expires_ms: number; owner_pid: number | null };
  transition_effect: {
    task_id: number;
    effect: string;
    key: string;
    claim: string;
    fencing_token: number;
    owner: string;
    state: string;
    started_ms: number;
  };
}

/** A database with the tables of the orchestrator, and how the tool is led to it. */
export interface Place {
  readonly db: Kysely<Tables>;
  readonly database: readonly [option: string, value: string];
  /** A folder of the test's own. */
  readonly folder: string;
  /** Writes a configuration, and gives the options that name it. */
  config(config: object): readonly [option: string, file: string];
  /** Every row that the tool could change, in words that can be compared. */
  standing(): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A kind of database that the tool speaks to. */
export interface Kind {
  readonly name: string;
  readonly missing: string | undefined;
  readonly open: () => Promise<Place>;
}

/** The mapping of the orchestrator, as its application has it. */
export const mapping = {
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  jobs: {
    table: 'jobs',
    id: 'id',
    taskId: 'task_id',
    status: 'status',
    runId: 'run_id',
    pid: 'pid',
    startedAt: 'started_at',
    finishedAt: 'finished_at',
    statuses: { queued: 'queued', running: 'running', failed: 'failed' },
    singleHost: true,
  },
  effects: {},
  timeFormat: 'sqlite-text',
} as const;

async function placeOf(db: Kysely<Tables>, database: Place['database'], remove: () => Promise<void>): Promise<Place> {
  await sql`create table tasks (id bigint primary key, stage varchar(255))`.execute(db);
  await sql`create table jobs (id bigint primary key, task_id bigint, status varchar(255), run_id bigint, pid bigint,
    started_at varchar(255), finished_at varchar(255))`.execute(db);
  const folder = temporaryFolder();
  return {
    db,
    database,
    folder: folder.path,
    config: (config) => {
      const file = join(folder.path, 'config.json');
      writeFileSync(file, JSON.stringify(config));
      return ['--config', file];
    },
    standing: async () => {
      const tables = [];
      for (const [table, order] of [
        ['tasks', 'id'],
        ['jobs', 'id'],
        ['transition_lease', 'task_id'],
        ['transition_effect', 'task_id'],
      ] as const) {
        tables.push((await sql`select * from ${sql.table(table)} order by ${sql.ref(order)}`.execute(db)).rows);
      }
      return JSON.stringify(tables, null, 1);
    },
    [Symbol.asyncDispose]: async () => {
      await db.destroy();
      folder.remove();
      await remove();
    },
  };
}

const sqlite: Kind = {
  name: 'SQLite',
  missing: undefined,
  open: async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'orchestrator.sqlite');
    const db = new Kysely<Tables>({ dialect: openSqlite(file) });
    return placeOf(db, ['--sqlite', file], async () => folder.remove());
  },
};

const postgresServer = serverUrl('TEST_POSTGRES_URL');
const postgres: Kind = {
  name: 'PostgreSQL',
  missing: postgresServer.missing,
  open: async () => {
    const schema = ownName('cli');
    const remove = await makeSchemas(schema);
    const pool = postgresPool(schema, { max: 2 });
    const address = new URL(postgresServer.url);
    address.searchParams.set('options', `-c search_path=${schema}`);
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    return placeOf(db, ['--postgres', address.href], remove);
  },
};

const mysqlServer = serverUrl('TEST_MYSQL_URL');
const mysql: Kind = {
  name: 'MySQL or MariaDB',
  missing: mysqlServer.missing,
  open: async () => {
    const name = ownName('cli');
    const remove = await makeDatabases(name);
    const address = new URL(mysqlServer.url);
    address.pathname = name;
    const db = new Kysely<Tables>({ dialect: new MysqlDialect({ pool: mysqlPool(name) }) });
    return placeOf(db, ['--mysql', address.href], remove);
  },
};

/** Every kind; a server that is not there has said so, and its tests are passed over. */
export const kinds = { sqlite, postgres, mysql };
