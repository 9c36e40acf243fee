import type { Result } from 'neverthrow';
import type { StoreFailure } from './core/failure.js';
import type { Finding } from './core/finding.js';
import type { Holder } from './core/holder.js';
import type { IdType, IdValue } from './core/id.js';
import { inspectValue } from './core/inspect-value.js';
import type { Mode } from './core/mode.js';
import type { Observer } from './core/observer.js';
import type { StageMap } from './core/stages.js';
import type { Timing } from './core/timing.js';
import type { Liveness } from './core/verdict.js';
import type { Dialect, TimeFormat } from './dialect/dialect.js';
import type { Claims } from './holding/claims.js';
import type { Holding } from './holding/holding.js';
import type { IdleWatch } from './holding/idle-watch.js';
import type { LeaseSignal } from './holding/lease-signal.js';
import type { UnguardedHolds } from './holding/unguarded-holds.js';
import type { Ports } from './port/ports.js';
import type { AcquireStatements } from './sql/acquire-statements.js';
import type { CallersTable } from './sql/callers-table.js';
import type { ColumnsFound } from './sql/columns-found.js';
import type { EffectStatements } from './sql/effect-statements.js';
import type { JobSettings } from './sql/job-columns.js';
import type { JobStatements } from './sql/job-statements.js';
import type { LeaseStatements } from './sql/lease-statements.js';
import type { Session } from './sql/session.js';
import type { SoughtStatements } from './sql/sought-statements.js';
import type { TaskStatements } from './sql/task-statements.js';
import type { ExpiryWatch } from './system/expiry-watch.js';

export type { Mode } from './core/mode.js';

/** `refuse` looks and refuses by what it finds, `report` looks and reports, `off` never looks. */
export type SurveyMode = 'refuse' | 'report' | 'off';

/** The options after they were checked, with every default in its place. */
export interface Settings {
  readonly timing: Timing;
  readonly taskIdType: IdType;
  readonly runIdType: IdType;
  readonly timeFormat: TimeFormat;
  /** The zone of the caller's time columns that have none; `undefined` if no one has said. */
  readonly timeZone: 'UTC' | 'session' | undefined;
  /** What becomes of a verb that something found stands against. */
  readonly survey: SurveyMode;
  readonly liveness: Liveness;
  readonly transitions: StageMap | undefined;
  /** The schema in which `db` looks for a table that is named without one; `undefined` for the database's own. */
  readonly schema: string | undefined;
  /** True where no one has said the schema of the leases: it is then that of `db`. */
  readonly leaseFollowsHandle: boolean;
  /** The table of the leases. */
  readonly leaseTable: { readonly schema: string | undefined; readonly table: string };
  /** The journal of effects; `undefined` without the option `effects`. */
  readonly effectTable: { readonly schema: string | undefined; readonly table: string } | undefined;
  /** Your jobs; `undefined` without the option `jobs`. */
  readonly jobs: JobSettings | undefined;
  /** Your tasks. */
  readonly tasks: CallersTable;
  readonly updatedAtColumn: string | undefined;
  /** What makes its value; `undefined` for the database's now. */
  readonly updatedAtValue: ((builder: unknown) => unknown) | undefined;
  readonly idColumn: string;
  readonly stageColumn: string;
}

/** Renews the leases of an ownership. */
export interface Renewer {
  /** Takes a lease into care. */
  keep(holding: Holding): void;
  /** Lets it go: its row is deleted, or left to expire, and its claim is in use no more. */
  drop(holding: Holding): void;
  /** Stops renewing a lease that was lost; its claim stays known until it is released. */
  forsake(holding: Holding): void;
  /** Fires the signals that are due: called at every touch of the library, for timers may have slept. */
  glance(): void;
  /** Everything in care. */
  readonly holdings: ReadonlySet<Holding>;
}

/** The tables that findings are about. */
export type Part = 'tasks' | 'jobs' | 'lease' | 'effects';

/** What was found of the session and the tables. */
export interface Surveys {
  /** How the caller's columns are, as last seen; as the options say where no one looked. */
  readonly columns: ColumnsFound;
  /** True if it was looked at and nothing stands against writing these tables. */
  suits(parts: readonly Part[]): boolean;
  /** Looks where that is due; returns what stands against writing these tables. */
  look(session: Session, parts: readonly Part[]): Promise<StoreFailure | undefined>;
  /** Looks in any case. */
  take(session: Session): Promise<Result<readonly Finding[], StoreFailure>>;
  /** What was last found that stands against these tables themselves, whatever the session is. */
  against(parts: readonly Part[]): StoreFailure | undefined;
  /** Reports each finding once. */
  report(findings: readonly Finding[]): void;
  /** Whether the path of the database names another file than at first; looks at the path alone. */
  fileReplaced(): StoreFailure | undefined;
}

/** What every verb is handed. `using` makes another with its own session; all else is shared. */
export interface Context {
  readonly session: Session;
  /** The context of the ownership itself: renewals and settlements go over its handle. */
  readonly root: Context;
  readonly dialect: Dialect;
  readonly settings: Settings;
  readonly ports: Ports;
  readonly observer: Observer;
  readonly sightings: ExpiryWatch;
  readonly survey: Surveys;
  readonly renewer: Renewer;
  /** Acquisitions, handlers and effects that are under way; `close` waits for them. */
  readonly running: Set<Promise<unknown>>;
  /** The signals of leases without a row that the caller has asked for: `close` fires them too. */
  readonly unguarded: Set<LeaseSignal>;
  /** The leases of this process that have no row. */
  readonly holds: UnguardedHolds;
  /** Whoever waits until no lease of this process is left. */
  readonly idle: IdleWatch;
  readonly leases: LeaseStatements;
  readonly acquisitions: AcquireStatements;
  readonly sought: SoughtStatements;
  readonly tasks: TaskStatements;
  /** `undefined` without the option `jobs`. */
  readonly jobs: JobStatements | undefined;
  /** `undefined` without the option `effects`. */
  readonly effects: EffectStatements | undefined;
  /** Reads the kill switch; a switch that throws is on. */
  mode(): Mode;
  /** Reads the scope; a scope that throws covers everything. */
  covers(question: Asked): boolean;
  /** The same on a transaction or on another handle of the caller; throws `TypeError` for one that spells names another way. */
  using(handle: object): Context;
  /** Set once `close` was called: no new lease is granted for good. */
  readonly closing: { begun: boolean };
  /** The claims of this process. */
  readonly claims: Claims;
}

const CONTEXT = Symbol.for('transition-ownership.context');

/** What a request says to its scope; `undefined` for what it does not. */
export interface Asked {
  readonly taskId: IdValue;
  readonly stage: string | null | undefined;
  readonly actor: string | undefined;
  readonly context: unknown;
}

/** Whatever carries a context: an ownership, whatever its types. */
export interface ContextCarrier {
  readonly [CONTEXT]: Context;
}

/** Puts a context into an ownership under construction. */
export function carry(context: Context): ContextCarrier {
  return { [CONTEXT]: context };
}

/** The context of an ownership; throws `TypeError` for anything else. */
export function contextOf(ownership: ContextCarrier): Context {
  const context = (ownership as Partial<ContextCarrier> | null | undefined)?.[CONTEXT];
  if (context === undefined)
    throw new TypeError(
      `the first argument must be an ownership made by createTransitionOwnership, got ${inspectValue(ownership)}`,
    );
  context.renewer.glance();
  return context;
}

/** What applies to one request. */
export function regimeOf(context: Context, { taskId, stage, actor, context: told }: Asked): Mode {
  const mode = context.mode();
  return mode !== 'off' && context.covers({ taskId, stage, actor, context: told }) ? mode : 'off';
}

/** What the process knows of the claim of a row. */
export function registrationOf(context: Context, holder: Holder): 'no' | 'yes' | 'provisional' {
  const entry = context.claims.find(holder.claim);
  return entry === undefined ? 'no' : entry.provisional ? 'provisional' : 'yes';
}
