import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { Kysely, type KyselyPlugin, SqliteDialect, sql } from 'kysely';
import {
  type ClaimRegistry,
  type Clock,
  createTransitionOwnership,
  type Dialect,
  type EffectsOption,
  ensureSchema,
  type Judge,
  type LeaseOption,
  type Liveness,
  type Mode,
  type OwnershipEvent,
  type ProcessIdentity,
  type ProcessSighting,
  type ProcessTable,
  type Randomness,
} from 'transition-ownership';
import { recordEvents } from 'transition-ownership/testing';
import { gatedDialect } from '../../src/testing/store/gated-dialect.js';
import { cachedStatements } from '../../src/testing/store/sqlite-handle.js';
import { ManualTime } from './time.js';
import { Wire } from './wire.js';

export type Stage = 'deploy-staging' | 'deploy' | 'done';

export interface Tables {
  tasks: { id: number; stage: Stage | null; updated_at: string | null; note: string | null };
}

/** Where the tasks of these tests are, as an option. */
export const tasks = { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' } as const;

/** What a process of a test has that others have not. */
export interface ProcessOptions extends Partial<ProcessIdentity> {
  readonly dialect?: Dialect;
  /** Rewrites the text of each statement on its way to the database. */
  readonly mutate?: (text: string) => string;
  readonly plugins?: KyselyPlugin[];
}

/** What a process of a test sees of the world. */
export interface TestPorts {
  readonly identity: ProcessIdentity;
  readonly registry: ClaimRegistry;
  readonly clock: Clock;
  readonly processes: ProcessTable;
  readonly randomness: Randomness;
}

/** What an ownership of a test has that others have not. */
export interface OwnershipOverrides {
  readonly lease?: LeaseOption<'integer', 'integer'>;
  readonly effects?: EffectsOption;
  readonly liveness?: Liveness | Judge;
  readonly mode?: Mode | (() => Mode);
  readonly scope?: ((question: { readonly taskId: number; readonly context: unknown }) => boolean) | undefined;
  readonly onEvent?: (event: OwnershipEvent) => unknown;
  readonly registry?: ClaimRegistry;
  readonly identity?: ProcessIdentity;
  readonly survey?: 'refuse' | 'report' | 'off';
}

/** A process of a test: its own connection, wire, identity, timers and registry. */
export class TestProcess implements AsyncDisposable {
  readonly name: string;
  readonly rig: Rig;
  readonly db: Kysely<Tables>;
  readonly wire = new Wire();
  readonly #heard = recordEvents();
  readonly identity: ProcessIdentity;
  readonly registry: ClaimRegistry = new Map();
  readonly ports: TestPorts;
  readonly dialect: Dialect | undefined;
  /** How much of its jitter the renewer uses: 0 renews exactly at its interval. */
  chance = 0;
  readonly #handle: BetterSqlite3.Database;

  constructor(rig: Rig, name: string, { dialect, mutate = same, plugins = [], ...identity }: ProcessOptions) {
    this.name = name;
    this.rig = rig;
    this.dialect = dialect ?? rig.options.dialect;
    this.#handle = open(rig);
    const cached = cachedStatements(this.#handle, () => {});
    const database = { close: () => {}, prepare: (text: string) => cached.prepare(mutate(text)) };
    this.db = new Kysely<Tables>({ dialect: gatedDialect(new SqliteDialect({ database }), this.wire), plugins });
    this.identity = {
      bootId: `boot-${name}`,
      pid: 100 + rig.started,
      start: `start-${name}`,
      host: 'host',
      ...identity,
    };
    rig.sights.set(this.identity.pid, { state: 'exists', start: this.identity.start });
    let claims = 0;
    const ports: TestPorts = {
      identity: this.identity,
      registry: this.registry,
      clock: rig.time.clock(name),
      processes: { sight: (pid: number): ProcessSighting => rig.sights.get(pid) ?? { state: 'gone', start: null } },
      randomness: {
        claim: () => {
          claims += 1;
          return `${name}-${claims}`;
        },
        fraction: () => this.chance,
      },
    };
    this.ports = { ...ports, ...rig.options.seams?.(ports) };
  }

  /** How many claims of this process are known; each has an entry under two keys. */
  get claimed(): number {
    return new Set(this.registry.values()).size;
  }

  /** Makes an ownership of this process. */
  own(overrides: OwnershipOverrides = {}) {
    const { dialect } = this;
    return createTransitionOwnership({
      db: this.db,
      tasks,
      ...(dialect && { dialect }),
      // What is looked at before the first write is proved where it is the point: each statement is counted here.
      survey: 'off',
      ...this.ports,
      onEvent: this.#heard.onEvent,
      ...overrides,
    });
  }

  /** Everything that its ownerships told, in order. */
  get events(): readonly OwnershipEvent[] {
    return this.#heard.events;
  }

  /** What they told of one type, in order. */
  told<T extends OwnershipEvent['type']>(type: T) {
    return this.#heard.of(type);
  }

  /** How long each of its timers still has to run, in ms. */
  get timers(): readonly number[] {
    return this.rig.time.timers(this.name);
  }

  /** Ends at once, as by SIGKILL: an open transaction of its own is rolled back, its pid is gone. */
  kill(): void {
    this.wire.cut();
    this.rig.time.forget(this.name);
    this.rig.sights.delete(this.identity.pid);
    this.#handle.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.rig.time.forget(this.name);
    this.#handle.close();
  }
}

export type TestOwnership = ReturnType<TestProcess['own']>;

/** How a rig differs from the usual one. */
export interface RigOptions {
  /** The dialect of every process that names none. */
  readonly dialect?: Dialect;
  /** Rewrites the text of each statement of every process that rewrites none. */
  readonly mutate?: (text: string) => string;
  /** Replaces what the processes see of the world: how a guard is taken away. */
  readonly seams?: (ports: TestPorts) => Partial<TestPorts>;
}

/** One SQLite file in a folder of its own, with processes around it and time in our hands. */
export class Rig implements AsyncDisposable {
  readonly time = new ManualTime();
  /** What the operating system knows of each pid. */
  readonly sights = new Map<number, ProcessSighting>();
  readonly options: RigOptions;
  readonly file: string;
  started = 0;
  #outside: BetterSqlite3.Database | undefined;
  readonly #folder = mkdtempSync(join(tmpdir(), 'ownership-'));
  readonly #processes: TestProcess[] = [];

  constructor(options: RigOptions = {}) {
    this.options = options;
    this.file = join(this.#folder, 'orchestrator.sqlite');
  }

  /** Starts a process. */
  start(name: string, options: ProcessOptions = {}): TestProcess {
    this.started += 1;
    const { mutate } = this.options;
    const process = new TestProcess(this, name, { ...(mutate && { mutate }), ...options });
    this.#processes.push(process);
    return process;
  }

  /** Runs a statement past every process, as somebody with a database shell would. */
  run(text: string, ...parameters: unknown[]): void {
    this.#handle.prepare(text).run(...parameters);
  }

  /** Reads rows past every process. */
  read(text: string, ...parameters: unknown[]): Record<string, unknown>[] {
    return this.#handle.prepare(text).all(...parameters) as Record<string, unknown>[];
  }

  /** Adds tasks in their first stage, as many as make this number of them, or with these ids. */
  addTasks(ids: number | readonly number[]): void {
    const list = typeof ids === 'number' ? Array.from({ length: ids }, (_, at) => at + 1) : ids;
    const added = `insert or ignore into tasks (id, stage) select value, 'deploy-staging' from json_each(?)`;
    this.run(added, JSON.stringify(list));
  }

  /** The rows of the lease table, oldest first. */
  leases(): Record<string, unknown>[] {
    return this.read('select * from transition_lease order by fencing_token');
  }

  /** One task as it stands. */
  task(id: number): Record<string, unknown> | undefined {
    return this.read('select * from tasks where id = ?', id)[0];
  }

  get #handle(): BetterSqlite3.Database {
    this.#outside ??= open(this);
    return this.#outside;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) await process[Symbol.asyncDispose]();
    this.#outside?.close();
    rmSync(this.#folder, { recursive: true });
  }
}

const same = (text: string): string => text;

function open({ file, time }: Pick<Rig, 'file' | 'time'>): BetterSqlite3.Database {
  const handle = new BetterSqlite3(file, { timeout: 0 });
  handle.pragma('journal_mode = wal');
  handle.pragma('synchronous = off');
  // The clock of the database, in our hands: the statements of the library stay as they are.
  handle.function('julianday', { varargs: true }, (at: unknown) => {
    const ms = at === 'now' ? time.databaseMs : Date.parse(`${String(at).replace(' ', 'T').replace('Z', '')}Z`);
    return ms / 86_400_000 + 2_440_587.5;
  });
  return handle;
}

/** A rig whose database is ready: three tasks in their first stage. */
export async function openRig(options: RigOptions = {}): Promise<Rig> {
  const rig = new Rig(options);
  const setup = rig.start('setup');
  await sql`create table tasks (id integer primary key, stage text, updated_at text, note text)`.execute(setup.db);
  await setup.db
    .insertInto('tasks')
    .values([1, 2, 3].map((id) => ({ id, stage: 'deploy-staging' as const })))
    .execute();
  const made = await ensureSchema(setup.own());
  if (made.isErr()) throw new Error(made.error.message);
  return rig;
}
