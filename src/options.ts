import type { Kysely } from 'kysely';
import type { Mode, SurveyMode } from './context.js';
import type { OwnershipEvent, Severity } from './core/event.js';
import type { IdType } from './core/id.js';
import type { Listener } from './core/observer.js';
import type { ProcessIdentity } from './core/process.js';
import type { Judge, Liveness } from './core/verdict.js';
import type { Dialect, TimeFormat } from './dialect/dialect.js';
import type { DialectName } from './dialect/infer.js';
import type { CheckedJobs, JobShapeOf, JobsOption } from './job/jobs-option.js';
import type { ClaimRegistry } from './port/claim-registry.js';
import type { Clock } from './port/clock.js';
import type { Files } from './port/files.js';
import type { ProcessTable } from './port/process-table.js';
import type { Randomness } from './port/randomness.js';
import type { Fitting, IdOf, SetOf, Shape, StoredId, TableOf, ValueOf } from './shape.js';
import type { AnyTasks, CheckedTasks, MovesSaid, TaskIdTypeOf } from './tasks-option.js';

/** The lease table and its times. */
export interface LeaseOption<TaskIdType extends IdType, RunIdType extends IdType> {
  /** Its name: a letter or underscore, then letters, digits, underscores; 63 at most. Default `transition_lease`. */
  readonly table?: string | undefined;
  /** Its schema. Default: that of `db` where it has one by `withSchema`, else the database's own. */
  readonly schema?: string | undefined;
  /** The elder name of `tasks.idType`. */
  readonly taskIdType?: TaskIdType | undefined;
  /** What run ids are. Default `'integer'`. */
  readonly runIdType?: RunIdType | undefined;
  /** Life of a lease after each renewal, in ms, from 150 to a year. Default 30,000. */
  readonly ttlMs?: number | undefined;
  /** Time between renewals, in ms, from 10 to a third of `ttlMs`. Default 10,000. */
  readonly renewEveryMs?: number | undefined;
  /** Hard bound of one hold, in ms, up to a year. Default 3,600,000. */
  readonly maxHoldMs?: number | undefined;
}

/**
 * The journal of effects: a row for each application of an effect to a task.
 *
 * Rows are never deleted, for an effect that was applied must stay known. Delete old ones yourself once their
 * key cannot come again, and never one whose state is `started`. On SQLite keep `synchronous=FULL`, as
 * `openSqlite` does: a power cut may otherwise take back the word that an effect was started.
 */
export interface EffectsOption {
  /** Its name, spelled as that of the lease table. Default `transition_effect`. */
  readonly table?: string | undefined;
  /** Its schema. Default: that of the lease table, which may be that of `db`. */
  readonly schema?: string | undefined;
}

/** What `scope` is asked about. */
export interface ScopeQuestion<TaskId, Stage = string | null> {
  /** The task of the request. */
  readonly taskId: TaskId;
  /** The stage of the request, `expected` for a stage write; else `undefined`. */
  readonly stage: Stage | undefined;
  /** Who asks; `undefined` for a stage write without a lease. */
  readonly actor: string | undefined;
  /** Whatever the caller put into its request. */
  readonly context: unknown;
}

/** Decides which requests the library covers. */
export type ScopeOption<DB, Tasks extends AnyTasks, TaskIdType extends IdType> = (
  question: ScopeQuestion<
    IdOf<ValueOf<DB, Tasks['table'] & TableOf<DB>, Tasks['id']>, TaskIdTypeOf<Tasks, TaskIdType>>,
    Fitting<ValueOf<DB, Tasks['table'] & TableOf<DB>, Tasks['stage']>, string | null>
  >,
) => boolean;

/** What an ownership is made of. */
export interface OwnershipOptions<
  DB,
  Tasks extends AnyTasks,
  TaskIdType extends IdType,
  RunIdType extends IdType,
  Jobs extends JobsOption | undefined = undefined,
  Scope = ScopeOption<DB, Tasks, TaskIdType> | undefined,
> {
  /**
   * Your Kysely, and not a transaction: that is for `using`. Its plugins spell your names, as `withSchema` and
   * `CamelCasePlugin` do, and never the library's own; one that changes more than names is refused.
   */
  readonly db: Kysely<DB>;
  /** The database. Default: inferred from how `db` compiles a placeholder. */
  readonly dialect?: DialectName | Dialect | undefined;
  /** Where your tasks are. */
  readonly tasks: CheckedTasks<DB, Tasks, TaskIdType>;
  /** Where your jobs are, for the verbs on jobs and the reaper. Default: there are none. */
  readonly jobs?: CheckedJobs<DB, Jobs, TaskIdTypeOf<Tasks, TaskIdType>, RunIdType> | undefined;
  /** The lease table and its times. */
  readonly lease?: LeaseOption<TaskIdType, RunIdType> | undefined;
  /** The journal of effects, for `runEffect` and recovery. Default: none, and no such table. */
  readonly effects?: EffectsOption | undefined;
  /** Who is alive. Default `processAndHeartbeat()`. */
  readonly liveness?: Liveness | Judge | undefined;
  /** The kill switch, or a function that reads it at every request. Default `'on'`. */
  readonly mode?: Mode | (() => Mode) | undefined;
  /**
   * Which requests the library covers; others are handled as under `'off'`. Default: all. With it each request must say
   * its `context`; one that has none all the same is covered, and `scope` is not asked.
   */
  readonly scope?: Scope;
  /**
   * The format of your own time columns that are text or numbers; others go by their type. Default: `'sqlite-text'` on
   * SQLite, else `'native'`.
   */
  readonly timeFormat?: TimeFormat | undefined;
  /**
   * The zone of your own time columns on PostgreSQL that have none: UTC, or that of each session, which must then be
   * one. Default: UTC, where the session is at UTC; else the survey refuses them.
   */
  readonly timeZone?: 'UTC' | 'session' | undefined;
  /**
   * Before its first write the ownership looks at the session and at your tables: two statements. `'refuse'` refuses
   * the verbs that write what would break a promise, as a `store-failure` of the kind `unsuitable`; `'report'` only
   * reports it; `'off'` does not look. Default `'refuse'`.
   */
  readonly survey?: SurveyMode | undefined;
  /**
   * How long a statement waits for the only connection of a database while none of the library's passes it, in ms,
   * from 1 to a year. Default 5,000. Then the verb returns a `store-failure` of kind `busy`, and nothing was sent: a
   * transaction of yours has the connection, and the verb belongs on `ownership.using(trx)`. Renewals, releases and
   * the writes of a held lease wait for as long as that lease is trusted. SQLite only: a pool has more connections.
   */
  readonly busyWaitMs?: number | undefined;
  /** Watches; whatever it throws is swallowed. */
  readonly onEvent?: Listener | undefined;
  /**
   * How much an event matters to you, in place of what the library says: return a severity, or `undefined` for its own. A
   * reclaimed lease is an `alert`; `({ type, severity }) => (type === 'lease.reclaimed' ? 'warning' : severity)` takes it back.
   */
  readonly severity?: ((event: OwnershipEvent) => Severity | undefined) | undefined;
  /** Who this process is. For tests. */
  readonly identity?: ProcessIdentity | undefined;
  /** Local time. For tests. */
  readonly clock?: Clock | undefined;
  /** Looks up pids. For tests. */
  readonly processes?: ProcessTable | undefined;
  /** Tells files apart. For tests. */
  readonly files?: Files | undefined;
  /** The claims of this process. For tests. */
  readonly registry?: ClaimRegistry | undefined;
  /** Chance. For tests. */
  readonly randomness?: Randomness | undefined;
}

/** The legal moves as types: from each stage, a union of stages. */
type MoveTypes<Moves> = Moves extends undefined
  ? object
  : { readonly [From in keyof Moves]: Moves[From] extends readonly (infer Next)[] ? Next : never };

/** The types of an ownership, inferred from its options. */
export interface ShapeOf<
  DB,
  T extends TableOf<DB>,
  Id extends string,
  Stage extends string,
  Moves,
  TaskIdType extends IdType,
  RunIdType extends IdType,
  Jobs extends JobsOption | undefined = undefined,
  Scope = undefined,
> extends Shape {
  readonly taskId: IdOf<ValueOf<DB, T, Id>, TaskIdType>;
  readonly stage: Fitting<ValueOf<DB, T, Stage>, string | null>;
  readonly moves: MoveTypes<Moves>;
  readonly taskSet: SetOf<DB, T, Id | Stage>;
  readonly runId: IdOf<StoredId<RunIdType>, RunIdType>;
  readonly jobs: JobShapeOf<DB, Jobs>;
  readonly scoped: undefined extends Scope ? never : true;
}

/** The same, from the options as they were given. */
export type ShapeGiven<
  DB,
  Tasks extends AnyTasks,
  TaskIdType extends IdType,
  RunIdType extends IdType,
  Jobs extends JobsOption | undefined,
  Scope = undefined,
> = ShapeOf<
  DB,
  Tasks['table'] & TableOf<DB>,
  Tasks['id'],
  Tasks['stage'],
  MovesSaid<Tasks>,
  TaskIdTypeOf<Tasks, TaskIdType>,
  RunIdType,
  Jobs,
  Scope
>;
