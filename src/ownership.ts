import type { Kysely } from 'kysely';
import { type Context, carry, type Mode } from './context.js';
import { checkObject } from './core/check.js';
import type { IdType } from './core/id.js';
import { inspectValue } from './core/inspect-value.js';
import { readMode } from './core/mode.js';
import { Observer } from './core/observer.js';
import { unawaited } from './core/unawaited.js';
import type { Dialect } from './dialect/dialect.js';
import { type DialectName, resolveDialect } from './dialect/infer.js';
import { Claims } from './holding/claims.js';
import { IdleWatch } from './holding/idle-watch.js';
import type { LeaseSignal } from './holding/lease-signal.js';
import { UnguardedHolds } from './holding/unguarded-holds.js';
import type { JobsOption } from './job/jobs-option.js';
import { closer } from './lease/close.js';
import { LeaseRenewer } from './lease/lease-renewer.js';
import { whenIdle } from './lease/when-idle.js';
import type { OwnershipOptions, ScopeOption, ShapeGiven } from './options.js';
import type { Ports } from './port/ports.js';
import { type CheckedOptions, checkOptions, checkSpelling, settingsOf } from './settings.js';
import { acquireStatements } from './sql/acquire-statements.js';
import type { Handle } from './sql/callers-table.js';
import { connectionQueueOf } from './sql/connection-queue.js';
import { effectStatements } from './sql/effect-statements.js';
import { jobStatements } from './sql/job-statements.js';
import { leaseStatements } from './sql/lease-statements.js';
import type { Session } from './sql/session.js';
import { soughtStatements } from './sql/sought-statements.js';
import type { Database } from './sql/statement.js';
import { tableName } from './sql/tables.js';
import { taskStatements } from './sql/task-statements.js';
import { transactionStateOf } from './sql/transaction-state.js';
import { Surveyor } from './survey/surveyor.js';
import { systemClock } from './system/clock.js';
import { ExpiryWatch } from './system/expiry-watch.js';
import { systemFiles } from './system/files.js';
import { processClaims, processIdentity } from './system/process-scope.js';
import { systemProcesses } from './system/process-table.js';
import { systemRandomness } from './system/randomness.js';
import type { AnyTasks } from './tasks-option.js';
import type { CallersHandle, IdleOptions, TransitionOwnership } from './transition-ownership.js';

/**
 * Makes the library over your database: the one place where defaults meet your options.
 *
 * No statement is sent, no timer started, no signal handler installed. Table, column, stage and id types are
 * inferred from the types of `db`: a wrong name does not compile. Throws `TypeError` or `RangeError` for
 * options that cannot work, naming both values of a violated relation.
 *
 * @example
 * ```ts
 * import { createTransitionOwnership, ensureSchema } from 'transition-ownership';
 * import { db } from './setup.js';
 *
 * const ownership = createTransitionOwnership({
 *   db,
 *   tasks: { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' },
 * });
 * await ensureSchema(ownership);
 * ```
 */
export function createTransitionOwnership<
  DB,
  const Tasks extends AnyTasks,
  TaskIdType extends IdType = 'integer',
  RunIdType extends IdType = 'integer',
  const Jobs extends JobsOption | undefined = undefined,
  Scope extends ScopeOption<DB, Tasks, TaskIdType> | undefined = ScopeOption<DB, Tasks, TaskIdType> | undefined,
>(
  options: OwnershipOptions<DB, Tasks, TaskIdType, RunIdType, Jobs, Scope> & { readonly db: Kysely<DB> },
): TransitionOwnership<ShapeGiven<DB, Tasks, TaskIdType, RunIdType, Jobs, Scope>> {
  return present(compose(checkOptions(options)));
}

/** What the verbs see of an ownership: its context, and its life. */
function present(context: Context): TransitionOwnership<never> {
  const close = closer(context);
  return Object.freeze({
    ...carry(context),
    identity: context.ports.identity,
    using: (handle: CallersHandle) => present(context.using(handle)),
    close,
    idle: (options: IdleOptions) => whenIdle(context, options),
    [Symbol.asyncDispose]: async () => void (await close()),
  });
}

/** The caller's handle without plugins, which would rename the library's columns. */
function bare(handle: object): Database {
  const { withoutPlugins } = (handle ?? {}) as Partial<Database>;
  if (typeof withoutPlugins !== 'function') throw new TypeError(`db must be a Kysely, got ${inspectValue(handle)}`);
  return withoutPlugins.call(handle);
}

function sessionOn(
  base: Omit<Session, 'database' | 'inTransaction' | 'queue' | 'transaction'>,
  handle: CallersHandle,
): Session {
  const database = bare(handle);
  const inTransaction = handle.isTransaction;
  const queue = base.dialect.oneConnection && !inTransaction ? connectionQueueOf(handle) : undefined;
  const transaction = inTransaction ? transactionStateOf(handle) : undefined;
  return Object.freeze({ ...base, database, inTransaction, queue, transaction });
}

function compose(options: CheckedOptions): Context {
  const { db } = options;
  checkObject('db', db);
  const database = bare(db);
  if ((db as CallersHandle).isTransaction)
    throw new TypeError('db must be the Kysely itself, not a transaction: give that to ownership.using');
  const dialect = resolveDialect(options.dialect as DialectName | Dialect | undefined, database);
  const settings = settingsOf(options, dialect, db as Handle);
  const { clock = systemClock, identity = processIdentity(), processes = systemProcesses, mode = 'on' } = options;
  const { registry = processClaims(), randomness = systemRandomness, files = systemFiles, busyWaitMs } = options;
  const ports: Ports = Object.freeze({ clock, identity, processes, files, registry, randomness });
  const observer = new Observer(options.onEvent, options.severity);
  const base = { dialect, insisting: new Map<string, string>(), clock, busyWaitMs, randomness, observer };
  const session = sessionOn(base, db as CallersHandle);
  const { taskIdType, runIdType, leaseTable, effectTable, jobs } = settings;
  const survey = new Surveyor(() => context, settings);
  const times = () => survey.columns.times;
  const lease = tableName(leaseTable.schema, leaseTable.table);
  const leases = leaseStatements(database, dialect, { lease, taskIdType, runIdType });
  const { tasks, idColumn: id, stageColumn: stage } = settings;
  const keys = { tasks, id, stage, lease, taskIdType, runIdType };
  const idle = new IdleWatch(() => context.renewer.holdings.size === 0 && holds.size === 0);
  const holds = new UnguardedHolds(() => idle.look());
  const context: Context = Object.freeze({
    session,
    get root() {
      return context;
    },
    dialect,
    settings,
    using: (handle: object) => {
      const other = sessionOn(session, handle as CallersHandle);
      checkSpelling(settings, handle as Handle);
      return Object.freeze({ ...context, session: other });
    },
    ports,
    observer,
    sightings: new ExpiryWatch(clock),
    survey,
    renewer: new LeaseRenewer(() => context),
    running: new Set<Promise<unknown>>(),
    unguarded: new Set<LeaseSignal>(),
    holds,
    idle,
    closing: { begun: false },
    leases,
    acquisitions: acquireStatements(database, dialect, keys, leases),
    sought: soughtStatements(database, dialect, keys, leases),
    tasks: taskStatements(database, dialect, {
      ...keys,
      updatedAt: settings.updatedAtColumn,
      updatedAtValue: settings.updatedAtValue,
      idType: taskIdType,
      times,
    }),
    jobs: jobs && jobStatements(database, dialect, jobs, { ...jobs, taskIdType, runIdType, times }),
    effects:
      effectTable &&
      effectStatements(database, dialect, {
        effects: tableName(effectTable.schema, effectTable.table),
        lease,
        taskIdType,
      }),
    mode: readMode(mode as Mode | (() => Mode)),
    covers: readScope(options.scope),
    claims: new Claims(registry, leaseTable),
  });
  return context;
}

/** A request without a context is covered: who forgot it must not write under an owner. A scope that throws covers all. */
function readScope(scope: CheckedOptions['scope']): Context['covers'] {
  if (scope === undefined) return () => true;
  return (question) => {
    if (question.context === undefined) return true;
    try {
      return unawaited(scope(question)) !== false;
    } catch {
      return true;
    }
  };
}
