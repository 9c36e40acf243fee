import { type DatabaseConnection, type Generated, Kysely, sql } from 'kysely';
import {
  type ClaimRegistry,
  createTransitionOwnership,
  type Dialect,
  ensureSchema,
  type LeaseOption,
  type Mode,
  type OwnershipEvent,
  type ProcessIdentity,
  type ProcessSighting,
} from 'transition-ownership';
import { gatedDialect } from '../../src/testing/store/gated-dialect.js';
import { ManualTime } from '../rig/time.js';
import { Wire } from '../rig/wire.js';
import type { JobStore } from './stores.js';

export type Status = 'queued' | 'running' | 'done' | 'failed' | 'parked';

export interface Tables {
  tasks: { id: number; stage: 'deploy' | 'done' };
  wall: { now_ms: number };
  jobs: {
    id: Generated<number>;
    task_id: number | null;
    status: Status;
    kind: string | null;
    run_id: number | null;
    pid: number | null;
    host: string | null;
    pid_start: string | null;
    started_at: string | Date | null;
    finished_at: string | Date | null;
    available_at: string | Date | null;
    worker_id: string | null;
    attempts: number;
    last_status: string | null;
    claim: string | null;
  };
}

/** A job as a test reads and writes it: instants are database time in epoch ms. */
export interface JobRow {
  readonly id: number;
  readonly task_id: number | null;
  readonly status: Status;
  readonly kind: string | null;
  readonly run_id: number | null;
  readonly pid: number | null;
  readonly host: string | null;
  readonly pid_start: string | null;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly available_at: number | null;
  readonly worker_id: string | null;
  readonly attempts: number;
  readonly last_status: string | null;
  readonly claim: string | null;
}

const INSTANTS: readonly string[] = ['started_at', 'finished_at', 'available_at'];
const COLUMNS: readonly (keyof JobRow)[] = [
  'id',
  'task_id',
  'status',
  'kind',
  'run_id',
  'pid',
  'host',
  'pid_start',
  'started_at',
  'finished_at',
  'available_at',
  'worker_id',
  'attempts',
  'last_status',
  'claim',
];

/** The option `jobs` of these tests; pids are evidence by their host and their start. */
export const mapped = {
  table: 'jobs',
  id: 'id',
  taskId: 'task_id',
  status: 'status',
  runId: 'run_id',
  pid: 'pid',
  host: 'host',
  pidStart: 'pid_start',
  startedAt: 'started_at',
  finishedAt: 'finished_at',
  availableAt: 'available_at',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
  alsoClear: ['worker_id'],
} as const;

/** How a yard differs from the usual one. */
export interface YardOptions {
  /** Keeps the database apart from those of other files. */
  readonly suite?: string;
  /** Rewrites the text of each statement that a process sends. */
  readonly mutate?: (text: string) => string;
}

/** What an ownership of a test has that others have not. */
export interface Overrides {
  readonly lease?: LeaseOption<'integer', 'integer'>;
  readonly mode?: Mode | (() => Mode);
  readonly survey?: 'refuse' | 'report' | 'off';
  readonly scope?: ((question: { readonly taskId: number; readonly context: unknown }) => boolean) | undefined;
}

/** A process of a test: its own connections, wire, identity and claims. */
export class Worker {
  readonly name: string;
  readonly yard: Yard;
  readonly wire = new Wire();
  readonly events: OwnershipEvent[] = [];
  readonly identity: ProcessIdentity;
  readonly registry: ClaimRegistry = new Map();
  readonly db: Kysely<Tables>;
  readonly ports;

  constructor(yard: Yard, name: string, identity: Partial<ProcessIdentity>) {
    this.yard = yard;
    this.name = name;
    const mutate = yard.options.mutate ?? ((text: string) => text);
    const inner = yard.connect();
    const createDriver = () => mutatedDriver(inner.createDriver(), mutate);
    this.db = new Kysely<Tables>({ dialect: gatedDialect({ ...bound(inner), createDriver }, this.wire) });
    this.identity = {
      bootId: `boot-${name}`,
      pid: 100 + yard.workers.length,
      start: `start-${name}`,
      host: 'here',
      ...identity,
    };
    yard.sights.set(this.identity.pid, { state: 'exists', start: this.identity.start });
    let claims = 0;
    this.ports = {
      identity: this.identity,
      registry: this.registry,
      clock: yard.time.clock(name),
      processes: { sight: (pid: number): ProcessSighting => yard.sights.get(pid) ?? { state: 'gone', start: null } },
      randomness: { claim: () => `${name}-${(claims += 1)}`, fraction: () => 0 },
    };
  }

  /** An ownership of this process, with jobs whose pids are evidence. */
  own(overrides: Overrides = {}) {
    return createTransitionOwnership({ ...this.base(), jobs: mapped, ...overrides });
  }

  /** The same, whose claims are told apart by a nonce. */
  ownClaims(overrides: Overrides = {}) {
    return createTransitionOwnership({ ...this.base(), jobs: { ...mapped, claim: 'claim' }, ...overrides });
  }

  /** What every ownership of this process has. */
  base() {
    return {
      db: this.db,
      dialect: this.yard.dialect,
      tasks: { table: 'tasks', id: 'id', stage: 'stage' },
      onEvent: (event: OwnershipEvent) => void this.events.push(event),
      ...this.ports,
    } as const;
  }

  /** The events of a type, in their order. */
  told<T extends OwnershipEvent['type']>(type: T): Extract<OwnershipEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<OwnershipEvent, { type: T }> => event.type === type);
  }

  /** Ends, as by SIGKILL: nothing that it sent is ever answered, its pid is gone. */
  kill(): void {
    this.wire.cut();
    this.yard.time.forget(this.name);
    this.yard.sights.delete(this.identity.pid);
  }
}

export type TestOwnership = ReturnType<Worker['own']>;

/** One database with jobs, workers around it, and time in our hands. */
export class Yard implements AsyncDisposable {
  readonly store: JobStore;
  readonly options: YardOptions;
  readonly time = new ManualTime();
  /** What the operating system knows of each pid. */
  readonly sights = new Map<number, ProcessSighting>();
  readonly workers: Worker[] = [];
  readonly dialect: Dialect;
  readonly connect: Awaited<ReturnType<JobStore['open']>>['connect'];
  readonly #close: () => Promise<void>;
  /** A handle past every worker, as somebody with a database shell has it. */
  readonly outside: Kysely<Tables>;

  constructor(store: JobStore, options: YardOptions, opened: Awaited<ReturnType<JobStore['open']>>) {
    this.store = store;
    this.options = options;
    this.connect = opened.connect;
    this.#close = opened.close;
    this.outside = new Kysely<Tables>({ dialect: opened.connect() });
    // The clock of the database, in our hands.
    this.dialect = Object.freeze({ ...store.dialect, nowMs: sql<number>`(select now_ms from wall)` });
  }

  /** Starts a process. */
  start(name: string, identity: Partial<ProcessIdentity> = {}): Worker {
    const worker = new Worker(this, name, identity);
    this.workers.push(worker);
    return worker;
  }

  /** Time passes, for all alike. */
  async advance(ms: number): Promise<void> {
    await this.time.advance(ms);
    await this.setWall();
  }

  /** Time passes and no timer runs. */
  async freeze(ms: number): Promise<void> {
    this.time.freeze(ms);
    await this.setWall();
  }

  /** Time passes, and the monotonic clocks stand still. */
  async suspend(ms: number): Promise<void> {
    this.time.suspend(ms);
    await this.setWall();
  }

  async setWall(): Promise<void> {
    await this.outside.updateTable('wall').set({ now_ms: this.time.databaseMs }).execute();
  }

  /** The statement that finds a job just as it was seen, or not: the UPDATE itself, or what locks its row. */
  get comparing(): RegExp {
    return this.dialect.returning ? /^update .jobs./ : /^select .id. as .job:id. from .jobs. where/;
  }

  /** The clock of the database, epoch ms. */
  get nowMs(): number {
    return this.time.databaseMs;
  }

  /** Puts a job there, queued unless said otherwise; answers its id. */
  async put(job: Partial<JobRow> = {}): Promise<number> {
    const id = job.id ?? (await this.jobs()).length + 1;
    const row = { task_id: null, status: 'queued', attempts: 0, ...job, id };
    await sql`insert into jobs (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
      values (${sql.join(Object.entries(row).map(([name, value]) => this.#written(name, value)))})`.execute(
      this.outside,
    );
    return id;
  }

  /** Changes a job past every worker. */
  async set(id: number, job: Partial<JobRow>): Promise<void> {
    const assigned = Object.entries(job).map(([name, value]) => sql`${sql.ref(name)} = ${this.#written(name, value)}`);
    await sql`update jobs set ${sql.join(assigned)} where id = ${id}`.execute(this.outside);
  }

  /** All jobs as they stand. */
  async jobs(): Promise<JobRow[]> {
    const { dialect } = this.store;
    const columns = COLUMNS.map((name) =>
      INSTANTS.includes(name)
        ? sql`${dialect.epochMs(dialect.timeFormat, sql.ref(name))} as ${sql.ref(name)}`
        : sql.ref(name),
    );
    const { rows } = await sql<JobRow>`select ${sql.join(columns)} from jobs order by id`.execute(this.outside);
    return rows.map((row) => ({ ...row, ...numbers({ ...row }) }));
  }

  /** One job as it stands. */
  async job(id: number): Promise<JobRow> {
    const found = (await this.jobs()).find((job) => job.id === id);
    if (found === undefined) throw new Error(`there is no job ${id}`);
    return found;
  }

  #written(name: string, value: unknown) {
    const { dialect } = this.store;
    return INSTANTS.includes(name) && typeof value === 'number'
      ? dialect.instant(dialect.timeFormat, sql<number>`${sql.lit(value)}`)
      : sql`${value}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { db } of this.workers) await db.destroy();
    await this.outside.destroy();
    await this.#close();
  }
}

/** Instants as numbers, however the driver spells 64 bits. */
function numbers(row: Readonly<Record<string, unknown>>) {
  const number = (name: string): number | null => (row[name] === null ? null : Number(row[name]));
  return {
    started_at: number('started_at'),
    finished_at: number('finished_at'),
    available_at: number('available_at'),
  };
}

type Inner = ReturnType<Yard['connect']>;

function bound(inner: Inner): Inner {
  return {
    createDriver: () => inner.createDriver(),
    createAdapter: () => inner.createAdapter(),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createIntrospector: (db) => inner.createIntrospector(db),
  };
}

/** Rewrites statements on their way to the driver. */
function mutatedDriver(inner: ReturnType<Inner['createDriver']>, mutate: (text: string) => string) {
  const wrapped = new WeakSet<DatabaseConnection>();
  const acquire = inner.acquireConnection.bind(inner);
  inner.acquireConnection = async () => {
    const connection = await acquire();
    if (!wrapped.has(connection)) {
      wrapped.add(connection);
      const run = connection.executeQuery.bind(connection);
      connection.executeQuery = (query) => run({ ...query, sql: mutate(query.sql) });
    }
    return connection;
  };
  return inner;
}

/** A yard whose database is ready: tasks 1 to 3, no jobs. */
export async function openYard(store: JobStore, options: YardOptions = {}): Promise<Yard> {
  const yard = new Yard(store, options, await store.open(options.suite ?? 'proofs'));
  const { id, integer, text, instant } = store.types;
  const type = (name: keyof JobRow): string => {
    if (name === 'id') return id;
    if (name === 'attempts') return `${integer} not null default 0`;
    return INSTANTS.includes(name) ? instant : ['task_id', 'run_id', 'pid'].includes(name) ? integer : text;
  };
  const run = (query: string) => sql.raw(query).execute(yard.outside);
  await run(`create table tasks (id ${id}, stage ${text})`);
  await run(`create table wall (now_ms bigint)`);
  await run(`create table jobs (${COLUMNS.map((name) => `${name} ${type(name)}`).join(', ')})`);
  await run('create index jobs_by_status on jobs (status, id)');
  await run(`insert into tasks (id, stage) values (1, 'deploy'), (2, 'deploy'), (3, 'deploy')`);
  await run(`insert into wall (now_ms) values (${yard.nowMs})`);
  const made = await ensureSchema(
    createTransitionOwnership({ db: yard.outside, tasks: { table: 'tasks', id: 'id', stage: 'stage' } }),
  );
  if (made.isErr()) throw new Error(made.error.message);
  return yard;
}
