import BetterSqlite3 from 'better-sqlite3';
import { type Dialect, Kysely, MysqlDialect, PostgresDialect, type RawBuilder, SqliteDialect, sql } from 'kysely';
import { ownName } from '../contract/store.js';
import { makeDatabases, mysql, mysqlPool } from '../contract/stores/mysql.js';
import {
  byPostgresJs,
  makeSchemas,
  postgres,
  postgresByPostgresJs,
  postgresPool,
} from '../contract/stores/postgres.js';

/** The caller's tables, the same in both schemas. */
export interface Tables {
  tasks: { id: number; stage: string | null; note: string | null };
  jobs: JobColumns;
}

interface JobColumns {
  id: number;
  task_id: number | null;
  status: string;
  run_id: number | null;
  pid: number | null;
  started_at: number | null;
  attempts: number;
}

/** A database with two schemas: its own, where a handle looks by itself, and another. */
export interface TwoSchemas {
  readonly db: Kysely<Tables>;
  readonly own: string;
  readonly other: string;
  drop(): Promise<void>;
}

/** A kind of database with schemas. */
export interface Place {
  readonly name: string;
  readonly missing: string | undefined;
  make(): Promise<TwoSchemas>;
}

/** The option `jobs` over these tables; times are epoch ms. */
export const jobs = {
  table: 'jobs',
  id: 'id',
  taskId: 'task_id',
  status: 'status',
  runId: 'run_id',
  pid: 'pid',
  startedAt: 'started_at',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
} as const;

/** The option `tasks`. */
export const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;

async function filled(db: Kysely<Tables>, place: Omit<TwoSchemas, 'db' | 'drop'>, drop: () => Promise<void>) {
  for (const schema of [place.own, place.other]) {
    const run = (text: RawBuilder<unknown>) => text.execute(db);
    await run(
      sql`create table ${sql.id(schema, 'tasks')} (id integer primary key, stage varchar(40), note varchar(40))`,
    );
    await run(sql`create table ${sql.id(schema, 'jobs')} (id integer primary key, task_id integer,
      status varchar(40) not null, run_id integer, pid integer, started_at bigint, attempts integer not null)`);
    await run(sql`insert into ${sql.id(schema, 'tasks')} (id, stage) values (1, 'a'), (2, 'a')`);
    await run(sql`insert into ${sql.id(schema, 'jobs')} (id, task_id, status, attempts) values (1, 1, 'queued', 0)`);
  }
  return {
    db,
    ...place,
    drop: async () => {
      await db.destroy();
      await drop();
    },
  };
}

const onPostgres = (name: string, connected: (schema: string) => Dialect): Place => ({
  name,
  missing: postgres.missing,
  make: async () => {
    const [own, other] = [ownName('handle'), ownName('handle_other')];
    const drop = await makeSchemas(own, other);
    return filled(new Kysely<Tables>({ dialect: connected(own) }), { own, other }, drop);
  },
});

export const places: readonly Place[] = [
  {
    name: 'SQLite with another file',
    missing: undefined,
    make: () => {
      const database = new BetterSqlite3(':memory:');
      database.exec("attach ':memory:' as other");
      const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
      return filled(db, { own: 'main', other: 'other' }, async () => {});
    },
  },
  onPostgres(postgres.name, (schema) => {
    const pool = postgresPool(schema, { max: 4, options: `-c search_path=${schema}` });
    return new PostgresDialect({ pool });
  }),
  onPostgres(postgresByPostgresJs.name, byPostgresJs),
  {
    name: mysql.name,
    missing: mysql.missing,
    make: async () => {
      const [own, other] = [ownName('handle'), ownName('handle_other')];
      const drop = await makeDatabases(own, other);
      return filled(new Kysely<Tables>({ dialect: new MysqlDialect({ pool: mysqlPool(own) }) }), { own, other }, drop);
    },
  },
];
