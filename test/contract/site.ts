import { type Kysely, sql } from 'kysely';
import { ensureSchema } from 'transition-ownership';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type ContractProcess, type ProcessOptions, startProcess } from './process.js';
import { type ContractStore, type ContractTables, hostile, type OpenStore } from './store.js';

/** A row of the lease table, as the tests read it. */
export interface LeaseRow {
  readonly fencing_token: number;
  readonly claim: string;
  readonly task_id: string;
  readonly owner: string;
  readonly owner_pid: number | null;
  readonly owner_boot_id: string | null;
  readonly owner_host: string | null;
  readonly owner_start: string | null;
  readonly run_id: string | null;
  readonly stage: string | null;
  /** In UTC. */
  readonly acquired_at: string;
  readonly acquired_ms: number;
  readonly expires_ms: number;
  readonly ttl_ms: number;
  readonly deadline_ms: number | null;
}

/** The database of a suite: opened before its tests, emptied before each, removed after them. */
export interface Site {
  readonly store: ContractStore;
  /** A handle that no process uses. */
  readonly db: Kysely<ContractTables>;
  /** Starts a process with a handle of its own. */
  process(options?: ProcessOptions): ContractProcess;
  /** Puts a task with an integer id into a stage; those from 1 to 60 are there, in `deploy`. */
  addTask(id: number, stage: string | null): Promise<void>;
  /** Adds the tasks from 61 to a number. */
  addTasks(last: number): Promise<void>;
  /** The stage of such a task. */
  stageOf(id: number): Promise<string | null | undefined>;
  /** The rows of a lease table, oldest first. */
  leases(table?: string): Promise<readonly LeaseRow[]>;
  /** Deletes the lease of a task, as an operator with a client would. */
  remove(taskId: number): Promise<void>;
  /** Lets the lease of a task end, long ago. */
  expire(taskId: number): Promise<void>;
  /** Lets the hard bound of a hold pass, long ago. */
  overrun(taskId: number): Promise<void>;
}

const LEASE_TABLES = ['transition_lease', 'big_lease', 'text_lease', 'select'] as const;
const TASK_TABLES = ['tasks', 'big_tasks', 'text_tasks', hostile.table] as const;
const LONG_AGO_MS = 10_000_000;

/** Opens the database of a suite. */
export function siteOf(store: ContractStore): Site {
  let opened: OpenStore | undefined;
  let db: Kysely<ContractTables> | undefined;
  const handles = new Set<Kysely<ContractTables>>();
  const present = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the database is opened before the first test, and not earlier');
    return value;
  };
  const connect = (log: (sql: string) => void = () => {}): Kysely<ContractTables> => {
    const handle = present(opened).connect(log);
    handles.add(handle);
    return handle;
  };

  beforeAll(async () => {
    opened = await store.open();
    db = connect();
    await makeTaskTables(db, store);
    const { ownership, bigOwnership, textOwnership, hostileOwnership } = startProcess(db);
    (await ensureSchema(ownership))._unsafeUnwrap();
    (await ensureSchema(bigOwnership))._unsafeUnwrap();
    (await ensureSchema(textOwnership))._unsafeUnwrap();
    (await ensureSchema(hostileOwnership))._unsafeUnwrap();
  }, 60_000);

  beforeEach(async () => {
    for (const handle of handles) {
      if (handle === db) continue;
      handles.delete(handle);
      await handle.destroy();
    }
    for (const table of [...LEASE_TABLES, ...TASK_TABLES]) await sql`delete from ${sql.id(table)}`.execute(present(db));
    await addTasks(present(db), 1, 60);
  });

  afterAll(async () => {
    for (const handle of handles) await handle.destroy();
    await opened?.close();
  });

  return {
    store,
    get db() {
      return present(db);
    },
    process: (options) => {
      const statements: string[] = [];
      return startProcess(
        connect((text) => statements.push(text)),
        options,
        statements,
      );
    },
    addTask: async (id, stage) => {
      await present(db).deleteFrom('tasks').where('id', '=', id).execute();
      await present(db)
        .insertInto('tasks')
        .values({ id, stage, note: null, moved_ms: null, updated_at: null })
        .execute();
    },
    addTasks: (last) => addTasks(present(db), 61, last),
    stageOf: async (id) =>
      (await present(db).selectFrom('tasks').select('stage').where('id', '=', id).executeTakeFirst())?.stage,
    leases: async (table = 'transition_lease') => {
      const { rows } = await sql<
        Readonly<Record<keyof LeaseRow, unknown>>
      >`select lease.*, ${store.utc(sql.ref('acquired_at'))} as acquired_at
        from ${sql.id(table)} as lease order by fencing_token`.execute(present(db));
      return rows.map(readLease);
    },
    remove: async (taskId) => {
      await sql`delete from transition_lease where task_id = ${taskId}`.execute(present(db));
    },
    expire: async (taskId) => {
      await sql`update transition_lease set expires_ms = expires_ms - ${LONG_AGO_MS} where task_id = ${taskId}`.execute(
        present(db),
      );
    },
    overrun: async (taskId) => {
      await sql`update transition_lease set deadline_ms = acquired_ms - ${LONG_AGO_MS} where task_id = ${taskId}`.execute(
        present(db),
      );
    },
  };
}

async function addTasks(db: Kysely<ContractTables>, first: number, last: number): Promise<void> {
  const empty = { stage: 'deploy', note: null, moved_ms: null, updated_at: null };
  const added = Array.from({ length: last - first + 1 }, (_, at) => ({ id: first + at, ...empty }));
  await db.insertInto('tasks').values(added).execute();
}

/** Drivers differ in how they read a 64-bit integer: ids become text, all else a number. */
function readLease(row: Readonly<Record<keyof LeaseRow, unknown>>): LeaseRow {
  const entries = Object.entries(row).map(([name, value]) => {
    if (name === 'task_id' || name === 'run_id') return [name, value === null ? null : `${value as number | string}`];
    return [name, /_ms$|_token$|_pid$/.test(name) && value !== null ? Number(value) : value];
  });
  return Object.fromEntries(entries) as LeaseRow;
}

/** Makes the tables of the caller. */
export async function makeTaskTables(db: Kysely<ContractTables>, { columns }: ContractStore): Promise<void> {
  const { integer, text, exact = text, instant } = columns;
  const make = (table: string, idType: string, [id, stage, updatedAt]: readonly [string, string, string]) =>
    sql`create table ${sql.id(table)} (${sql.id(id)} ${sql.raw(idType)} primary key, ${sql.id(stage)} ${sql.raw(text)},
      note ${sql.raw(text)}, moved_ms ${sql.raw(integer)}, ${sql.id(updatedAt)} ${sql.raw(instant)})`.execute(db);
  await make('tasks', `${integer} not null`, ['id', 'stage', 'updated_at']);
  await make('big_tasks', `${integer} not null`, ['id', 'stage', 'updated_at']);
  await make('text_tasks', `${exact} not null`, ['id', 'stage', 'updated_at']);
  await make(hostile.table, `${integer} not null`, [hostile.id, hostile.stage, hostile.updatedAt]);
}
