import type { Settings } from './context.js';
import type { OwnershipEvent, Severity } from './core/event.js';
import type { IdType } from './core/id.js';
import { inspectValue } from './core/inspect-value.js';
import type { Listener } from './core/observer.js';
import {
  by,
  callable,
  duration,
  given,
  idType,
  object,
  oneOf,
  optional,
  options,
  type Rule,
  type RulesOf,
  requestOf,
} from './core/request.js';
import { checkRenewals, timingRules } from './core/timing.js';
import { type Judge, type Liveness, livenessOf } from './core/verdict.js';
import type { Dialect, NamedTable, TimeFormat } from './dialect/dialect.js';
import { checkJobs, jobsRule } from './job/check-jobs-option.js';
import type { JobsOption } from './job/jobs-option.js';
import type { EffectsOption, LeaseOption, OwnershipOptions } from './options.js';
import { CallersTable, type Handle, schemaOf } from './sql/callers-table.js';
import { checkOwnName, shownTable } from './sql/tables.js';
import { portRules } from './system/check-ports.js';
import { type TasksOption, tasksRule } from './tasks-option.js';

const TIME_FORMATS = [
  'sqlite-text',
  'sqlite-seconds',
  'iso',
  'epoch-ms',
  'native',
] as const satisfies readonly TimeFormat[];

type AnyTables = Record<string, Record<string, string>>;
type AnyOptions = Omit<
  OwnershipOptions<AnyTables, TasksOption<AnyTables, string>, IdType, IdType>,
  'jobs' | 'tasks'
> & {
  readonly tasks: TasksOption<AnyTables, string>;
  readonly jobs?: JobsOption;
};

const ownName = by(checkOwnName);

/** How long a statement waits while something else has what it needs, unless an option says otherwise. */
const DEFAULT_BUSY_WAIT_MS = 5_000;

/** What the options of an ownership may say; what has no rule here is looked at where it is used. */
export const checkOptions = requestOf(
  {
    db: given,
    dialect: given,
    tasks: tasksRule,
    jobs: optional(jobsRule),
    lease: options({
      table: optional(ownName, 'transition_lease'),
      schema: optional(ownName),
      taskIdType: optional(idType),
      runIdType: optional(idType, 'integer'),
      ...timingRules,
    } satisfies RulesOf<LeaseOption<IdType, IdType>>),
    effects: optional(
      object({
        table: optional(ownName, 'transition_effect'),
        schema: optional(ownName),
      } satisfies RulesOf<EffectsOption>),
    ),
    liveness: given,
    mode: given,
    scope: optional(callable),
    timeFormat: optional(oneOf(...TIME_FORMATS)),
    timeZone: optional(oneOf('UTC', 'session')),
    survey: optional(oneOf('refuse', 'report', 'off'), 'refuse'),
    busyWaitMs: optional(duration(), DEFAULT_BUSY_WAIT_MS),
    onEvent: optional(callable as Rule<Listener>),
    severity: optional(callable as Rule<(event: OwnershipEvent) => Severity | undefined>),
    ...portRules,
  } satisfies RulesOf<AnyOptions>,
  'options',
);

/** The options after their check. */
export type CheckedOptions = ReturnType<typeof checkOptions>;

/** Puts every default in its place; a violated relation names both values. */
export function settingsOf(
  { tasks, jobs, lease, effects, liveness, timeFormat, timeZone, survey }: CheckedOptions,
  dialect: Dialect,
  handle: Handle,
): Settings {
  const { updatedAt: stamped } = tasks;
  const { column: updatedAt, value: updatedAtValue } =
    typeof stamped === 'object' ? stamped : { column: stamped, value: undefined };
  checkApart({ ...tasks, updatedAt });
  const { table, schema: said, taskIdType: alias, runIdType, ...timing } = lease;
  const { idType: taskIdType = alias ?? 'integer' } = tasks;
  if (alias !== undefined && alias !== taskIdType) {
    throw new RangeError(
      `tasks.idType and its alias lease.taskIdType must be the same, got ${inspectValue(taskIdType)} and ${inspectValue(alias)}`,
    );
  }
  checkRenewals(timing.ttlMs, timing.renewEveryMs);
  const { id, stage } = tasks;
  const callersTasks = new CallersTable(
    handle,
    tasks.table,
    updatedAt === undefined ? [id, stage] : [id, stage, updatedAt],
  );
  const schema = schemaOf(handle, table);
  const leaseTable = Object.freeze({ schema: said ?? schema, table });
  const effectTable = effects && Object.freeze({ schema: effects.schema ?? leaseTable.schema, table: effects.table });
  const checkedJobs = jobs && checkJobs(jobs, handle);
  const callers = { 'tasks.table': callersTasks.named, 'jobs.table': checkedJobs?.table.named };
  checkOwnTable('lease.table', leaseTable, callers);
  checkOwnTable('effects.table', effectTable, {
    'lease.table': leaseTable,
    ...callers,
  });
  return Object.freeze({
    timing: Object.freeze(timing),
    taskIdType,
    runIdType,
    timeFormat: timeFormat ?? dialect.timeFormat,
    timeZone,
    survey,
    liveness: livenessOf(liveness as Liveness | Judge | undefined),
    transitions: tasks.transitions,
    schema,
    leaseFollowsHandle: said === undefined,
    leaseTable,
    effectTable,
    jobs: checkedJobs,
    tasks: callersTasks,
    updatedAtColumn: updatedAt,
    updatedAtValue,
    idColumn: tasks.id,
    stageColumn: tasks.stage,
  });
}

/** Throws for a handle that would spell the names of an ownership another way, or put its tables elsewhere. */
export function checkSpelling({ tasks, jobs, schema, leaseTable }: Settings, handle: Handle): void {
  for (const table of jobs === undefined ? [tasks] : [tasks, jobs.table]) {
    const other = table.otherSpelling(handle);
    if (other === undefined) continue;
    const [here, there] = other.map(inspectValue);
    throw new TypeError(
      `using needs a handle that spells names as db of the ownership does, got ${there} where the ownership has ${here}`,
    );
  }
  const theirs = schemaOf(handle, leaseTable.table);
  if (theirs === undefined || theirs === schema || theirs === leaseTable.schema) return;
  throw new TypeError(
    `using needs a handle on the schema of the ownership, got ${inspectValue(theirs)} where the ownership has ${inspectValue(schema ?? leaseTable.schema)}`,
  );
}

/** Throws for two parts of a task in one column. */
function checkApart({
  id,
  stage,
  updatedAt,
}: Readonly<Record<'id' | 'stage', string>> & { updatedAt?: string | undefined }): void {
  if (stage === id) throw new RangeError(`tasks.stage must not be tasks.id, got ${inspectValue(id)} for both`);
  if (updatedAt === id || updatedAt === stage)
    throw new RangeError(`tasks.updatedAt must be a column of its own, got ${inspectValue(updatedAt)}`);
}

/** Throws for a table of the library's own that is another's; some databases take names in capitals for the same. */
function checkOwnTable(
  name: string,
  own: NamedTable | undefined,
  others: Readonly<Record<string, NamedTable | undefined>>,
): void {
  if (own === undefined) return;
  const table = shownTable(own);
  for (const [otherName, named] of Object.entries(others)) {
    const other = named && shownTable(named);
    if (table.toLowerCase() === other?.toLowerCase())
      throw new RangeError(`${name} must not be ${otherName}, got ${inspectValue(table)} and ${inspectValue(other)}`);
  }
}
