import type { Kysely } from 'kysely';
import {
  createTransitionOwnership,
  type Dialect,
  type EventType,
  type Mode,
  type OwnershipEvent,
  type ProcessIdentity,
  type ProcessSighting,
} from 'transition-ownership';
import { ManualTime } from '../rig/time.js';
import { type ContractTables, hostile } from './store.js';

/** What a process of a test may be told; the rest is as an application leaves it. */
export interface ProcessOptions {
  readonly mode?: Mode | (() => Mode);
  /** Default: told by how the handle compiles. */
  readonly dialect?: Dialect;
  readonly scope?: ((question: { readonly taskId: unknown; readonly context: unknown }) => boolean) | undefined;
  readonly timeFormat?: 'sqlite-text' | 'iso' | 'epoch-ms' | 'native';
  /** Where the lease table is, and its times. */
  readonly lease?: {
    readonly schema?: string | undefined;
    readonly table?: string;
    readonly ttlMs?: number;
    readonly renewEveryMs?: number;
    readonly maxHoldMs?: number;
  };
  readonly identity?: Partial<ProcessIdentity>;
  /** What happens between two tries of one statement. Default: nothing. */
  readonly pause?: () => Promise<void>;
  /** What it sees of other pids. Default: it can tell nothing of them. */
  readonly sight?: (pid: number) => ProcessSighting;
}

/** A process over a handle: its own identity, claims and local time, and everything that it told. */
export type ContractProcess = ReturnType<typeof startProcess>;

let started = 0;

/** Starts a process over a handle. */
export function startProcess(db: Kysely<ContractTables>, options: ProcessOptions = {}, statements: string[] = []) {
  started += 1;
  const { lease = {}, pause, sight = (): ProcessSighting => ({ state: 'unknown', start: null }), ...rest } = options;
  const events: OwnershipEvent[] = [];
  let waiting: (() => void)[] = [];
  const time = new ManualTime();
  const identity: ProcessIdentity = {
    bootId: `boot-${started}`,
    pid: 1000 + started,
    start: `start-${started}`,
    host: 'one-host',
    ...options.identity,
  };
  const common = {
    ...rest,
    db,
    identity,
    registry: new Map(),
    clock: pause === undefined ? time.clock('process') : { ...time.clock('process'), sleep: pause },
    processes: { sight },
    onEvent: (event: OwnershipEvent): void => {
      events.push(event);
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
  };
  const told = <T extends EventType>(type: T): readonly Extract<OwnershipEvent, { type: T }>[] =>
    events.filter((event): event is Extract<OwnershipEvent, { type: T }> => event.type === type);
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    }
  };
  return {
    db,
    identity,
    time,
    /** The texts of the statements that it sent, oldest first. */
    statements,
    /** What it told of one type, oldest first. */
    told,
    /** Resolves when what it told is what a test waits for. */
    until,
    /** Lets its next renewal come, and waits until that has dealt with so many leases. */
    renewed: async (leases: number): Promise<void> => {
      const settled = (): number => told('lease.renewed').length + told('lease.lost').length;
      const before = settled();
      await time.advance(options.lease?.renewEveryMs ?? 10_000);
      await until(() => settled() >= before + leases);
    },
    ownership: createTransitionOwnership({
      ...common,
      tasks: { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' },
      lease,
    }),
    bigOwnership: createTransitionOwnership({
      ...common,
      tasks: { table: 'big_tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' },
      lease: { ...lease, table: 'big_lease', taskIdType: 'bigint', runIdType: 'text' },
    }),
    textOwnership: createTransitionOwnership({
      ...common,
      tasks: { table: 'text_tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' },
      lease: { ...lease, table: 'text_lease', taskIdType: 'text', runIdType: 'bigint' },
    }),
    hostileOwnership: createTransitionOwnership({
      ...common,
      tasks: { table: hostile.table, id: hostile.id, stage: hostile.stage, updatedAt: hostile.updatedAt },
      lease: { ...lease, table: 'select' },
    }),
  };
}
