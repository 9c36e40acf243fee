import type { AnyTables, Row, Snapshot, TestStore } from '../store/store.js';

/** Where a process parks. */
export interface Point {
  /** The process that parks there. */
  readonly process: string;
  /** What comes next for it. */
  readonly kind: 'start' | 'sql' | 'effect' | 'work' | 'sleep' | 'timer' | 'exit';
  /** The SQL text, or what the effect is called. */
  readonly label: string;
  /** The parameters of the statement; empty for other kinds. */
  readonly params: readonly unknown[];
}

/** A fact that a process noted for the invariants. */
export interface Fact extends Readonly<Record<string, unknown>> {
  /** The process that noted it. */
  readonly process: string;
  /** Its incarnation. */
  readonly incarnation: number;
  /** Its pid. */
  readonly pid: number;
  /** Virtual time, in milliseconds. */
  readonly atMs: number;
}

/** One operation of a history. */
export interface Operation<I = unknown, O = unknown> {
  /** Who asked: one client has one operation at a time. */
  readonly client: string;
  /** When it was asked; any clock that orders. In a simulation: the step of its first statement. */
  readonly call: number;
  /** When it was answered; `Infinity` if it never was. In a simulation: the step of its last statement. */
  readonly ret: number;
  /** What was asked. */
  readonly input: I;
  /** What was answered; left out where the outcome is unknown. */
  readonly output?: O;
}

/** A process as an invariant sees it. */
export interface ProcessView {
  /** The name in the scenario. */
  readonly name: string;
  /** 1, then 2 after a restart, and so on. */
  readonly incarnation: number;
  /** The pid of this incarnation. */
  readonly pid: number;
  /** The boot id of this incarnation. */
  readonly bootId: string;
  /** `killed` until it is restarted; `ended` when its main function returned, `failed` when that threw. */
  readonly state: 'running' | 'killed' | 'ended' | 'failed';
  /** What the main function returned. */
  readonly result?: unknown;
  /** What the main function threw. */
  readonly error?: unknown;
}

/** One moment of one schedule, as invariants see it. */
export interface World<DB = AnyTables> {
  /** The database, with an ungated handle in `admin`. */
  readonly store: TestStore<DB>;
  /** Virtual time, in milliseconds. Every schedule begins at 1,000,000. */
  readonly nowMs: number;
  /** How far the clock of the database is ahead of that, in milliseconds: 0 unless it alone has jumped. */
  readonly databaseAheadMs: number;
  /** Virtual time at which the schedule began, in milliseconds. */
  readonly startMs: number;
  /** What the processes noted with `ghost`, in order. */
  readonly facts: readonly Fact[];
  /** What the processes did in `op`, in order of their first statement. */
  readonly history: readonly Operation[];
  /** The processes, in the scenario's order, each in its present incarnation. */
  readonly processes: readonly ProcessView[];
  /** What happened so far, one line a step. */
  readonly trace: readonly string[];
  /** The committed rows of all tables, by table. */
  readonly snapshot: Snapshot;
  /** The same before the last step. */
  readonly previous: Snapshot;
  /** Who took the last step, and whose waiting statements it let through; empty for the clock and the disk. */
  readonly actors: readonly ProcessView[];
  /** How often each effect took place, by label. */
  readonly effects: ReadonlyMap<string, number>;
  /** The committed rows of one table; empty if there is no such table. */
  readonly rows: (table: string) => readonly Row[];
}
