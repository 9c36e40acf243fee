import BetterSqlite3 from 'better-sqlite3';
import { Kysely, MysqlDialect, PostgresDialect, SqliteDialect, sql } from 'kysely';
import type { PoolOptions } from 'mysql2';
import {
  checkDialect,
  createTransitionOwnership,
  type Dialect,
  ensureSchema,
  type Finding,
  mysqlDialect,
  type OwnershipEvent,
  postgresDialect,
  type StoreFailure,
  sqliteDialect,
} from 'transition-ownership';
import { ownName, serverUrl } from '../contract/store.js';
import { makeDatabases, mysqlPool } from '../contract/stores/mysql.js';
import { makeSchemas, postgresPool } from '../contract/stores/postgres.js';
import { temporaryFolder } from '../contract/stores/sqlite.js';

/** Whatever tables a test makes. */
export interface Tables {
  tasks: { id: number; stage: string | null; updated_at: unknown };
  jobs: {
    id: number;
    task_id: number | null;
    status: string;
    run_id: number | null;
    pid: number | null;
    started_at: unknown;
    finished_at: unknown;
    available_at: unknown;
    host: string | null;
    pid_start: string | null;
  };
}

/** How the sessions of a handle begin. */
export interface Sessions {
  readonly log?: (text: string) => void;
  readonly begin?: readonly string[];
  readonly pool?: PoolOptions;
}

/** A database of one test. */
export interface Place {
  readonly kind: Kind;
  readonly db: Kysely<Tables>;
  /** The file, on SQLite. */
  readonly file: string;
  /** A handle of its own. */
  connect(sessions?: Sessions): Kysely<Tables>;
  /** The same, whose statements are listed. */
  counted(): { readonly db: Kysely<Tables>; readonly statements: string[] };
  /** Runs statements as they stand. */
  run(...texts: readonly string[]): Promise<void>;
  read(text: string): Promise<readonly Record<string, unknown>[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

export type KindName = 'SQLite' | 'PostgreSQL' | 'MySQL';

/** One kind of database, and how its columns are declared. */
export interface Kind {
  readonly name: KindName;
  readonly missing: string | undefined;
  readonly dialect: Dialect;
  readonly types: { readonly integer: string; readonly text: string; readonly instant: string };
  open(): Promise<Place>;
}

let opened = 0;

function placeOf(
  kind: Kind,
  { file = '', ...means }: { connect: Place['connect']; remove: () => unknown; file?: string },
): Place {
  const handles: Kysely<Tables>[] = [];
  const connect: Place['connect'] = (sessions) => {
    const handle = means.connect(sessions);
    handles.push(handle);
    return handle;
  };
  const db = connect();
  return {
    kind,
    db,
    file,
    connect,
    counted: () => {
      const statements: string[] = [];
      return { db: connect({ log: (text) => statements.push(text) }), statements };
    },
    run: async (...texts) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
    read: async (text) => (await sql<Record<string, unknown>>`${sql.raw(text)}`.execute(db)).rows,
    [Symbol.asyncDispose]: async () => {
      for (const handle of handles) await handle.destroy();
      await means.remove();
    },
  };
}

const sqliteKind: Kind = {
  name: 'SQLite',
  missing: undefined,
  dialect: sqliteDialect,
  types: { integer: 'integer', text: 'text', instant: 'text' },
  open: async () => {
    const folder = temporaryFolder();
    const file = `${folder.path}/survey.sqlite`;
    return placeOf(sqliteKind, {
      file,
      remove: () => folder.remove(),
      connect: ({ begin = [], log = () => {} } = {}) => {
        const database = new BetterSqlite3(file, { timeout: 100 });
        database.pragma('journal_mode = wal');
        for (const text of begin) database.exec(text);
        return new Kysely<Tables>({ dialect: new SqliteDialect({ database }), log: ({ query }) => log(query.sql) });
      },
    });
  },
};

const postgresKind: Kind = {
  name: 'PostgreSQL',
  missing: serverUrl('TEST_POSTGRES_URL').missing,
  dialect: postgresDialect,
  types: { integer: 'bigint', text: 'text', instant: 'timestamptz' },
  open: async () => {
    opened += 1;
    const schema = ownName(`survey_${opened}`);
    const remove = await makeSchemas(schema);
    return placeOf(postgresKind, {
      remove,
      connect: ({ begin = [], log = () => {} } = {}) => {
        const pool = postgresPool(schema, { max: 3 });
        pool.on('connect', (client) => {
          client.on('error', () => {});
          for (const text of begin) void client.query(text);
        });
        return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), log: ({ query }) => log(query.sql) });
      },
    });
  },
};

const mysqlKind: Kind = {
  name: 'MySQL',
  missing: serverUrl('TEST_MYSQL_URL').missing,
  dialect: mysqlDialect,
  types: { integer: 'bigint', text: 'varchar(255)', instant: 'datetime(3)' },
  open: async () => {
    opened += 1;
    const database = ownName(`survey_${opened}`);
    const remove = await makeDatabases(database);
    return placeOf(mysqlKind, {
      remove,
      connect: ({ begin = [], pool = {}, log = () => {} } = {}) =>
        new Kysely<Tables>({
          dialect: new MysqlDialect({ pool: mysqlPool(database, { connectionLimit: 3, ...pool }, begin) }),
          log: ({ query }) => log(query.sql),
        }),
    });
  },
};

export const kinds: readonly Kind[] = [sqliteKind, postgresKind, mysqlKind];

/** The kind of that name. */
export function kindOf(name: KindName): Kind {
  const kind = kinds.find((each) => each.name === name);
  if (kind === undefined) throw new Error(`there is no ${name}`);
  return kind;
}

const JOBS = {
  table: 'jobs',
  id: 'id',
  taskId: 'task_id',
  status: 'status',
  runId: 'run_id',
  pid: 'pid',
  startedAt: 'started_at',
  finishedAt: 'finished_at',
  availableAt: 'available_at',
  host: 'host',
  pidStart: 'pid_start',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
} as const;

/** An ownership with whatever options, its events, and what it is called by the verbs. */
export function ownershipOver(db: Kysely<Tables>, options: Record<string, unknown> = {}) {
  const events: OwnershipEvent[] = [];
  const ownership = createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' },
    jobs: JOBS,
    effects: {},
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { ownership, events };
}

export type Owned = ReturnType<typeof ownershipOver>;

/** Without jobs, where a test is about tasks alone. */
export const tasksAlone = { jobs: undefined } as const;

/** The declarations of the tables as a careful caller makes them, but for what a test says. */
export async function makeTables(
  place: Place,
  {
    tasks = {},
    jobs = {},
    after = {},
  }: Partial<Record<'tasks' | 'jobs' | 'after', Readonly<Record<string, string>>>> = {},
): Promise<void> {
  const { integer, text, instant } = place.kind.types;
  const make = (table: string, columns: Readonly<Record<string, string>>): string => {
    const listed = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
    const more = after[table] === undefined ? [] : [after[table]];
    return `create table ${table} (${[...listed, ...more].join(', ')})`;
  };
  await place.run(
    make('tasks', { id: `${integer} not null primary key`, stage: text, updated_at: instant, ...tasks }),
    make('jobs', {
      id: `${integer} not null primary key`,
      task_id: integer,
      status: text,
      run_id: integer,
      pid: integer,
      started_at: instant,
      finished_at: instant,
      available_at: instant,
      host: text,
      pid_start: text,
      ...jobs,
    }),
  );
  // By an ownership that looks at nothing, so that what a test looks at is looked at first there.
  (await ensureSchema(ownershipOver(place.db, { survey: 'off' }).ownership))._unsafeUnwrap();
}

/** The findings of a check that probes nothing, `code severity`, without advice that is always there. */
export async function found({ ownership }: Pick<Owned, 'ownership'>): Promise<readonly string[]> {
  const { findings } = (await checkDialect(ownership, { settingsOnly: true }))._unsafeUnwrap();
  return findings.filter(({ code }) => !STANDING.includes(code)).map(({ code, severity }) => `${code} ${severity}`);
}

const STANDING: readonly Finding['code'][] = [
  'pool-error-listener',
  'no-idle-timeout',
  'no-statement-timeout',
  'commits-not-durable',
];

/** The codes for which a verb was refused; `ok` if it was not. */
export function refusal(result: { readonly isOk: () => boolean } & { readonly error?: unknown }): readonly string[] {
  if (result.isOk()) return ['ok'];
  const failure = result.error as StoreFailure;
  if (failure.type !== 'store-failure' || failure.kind !== 'unsuitable') return [`${failure.type} ${failure.message}`];
  if (failure.retryable || failure.outcome !== 'not-applied') return ['a refusal that is none'];
  return (failure.findings ?? []).map(({ code }) => code);
}
