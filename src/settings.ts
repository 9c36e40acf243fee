import type { Settings } from './context.js';
import { checkIdType, checkObject, checkOneOf } from './core/check.js';
import { checkText, type IdType } from './core/id.js';
import { shown } from './core/shown.js';
import { checkStages, keptStages, type StageMap } from './core/stages.js';
import { checkTiming, DEFAULT_TIMING } from './core/timing.js';
import { type Judge, type Liveness, livenessOf } from './core/verdict.js';
import type { Dialect, NamedTable, TimeFormat } from './dialect/dialect.js';
import { checkJobs } from './job/check-jobs-option.js';
import type { JobsOption } from './job/jobs-option.js';
import { CallersTable, type Handle, schemaOf } from './sql/callers-table.js';
import { checkOwnName, shownTable } from './sql/tables.js';

/** The options that settings are made of, as an untyped caller could send them. */
export interface RawOptions {
  readonly tasks: {
    readonly table: string;
    readonly id: string;
    readonly stage: string;
    readonly updatedAt?: string;
    readonly transitions?: StageMap;
  };
  readonly lease?: {
    readonly table?: string;
    readonly schema?: string | undefined;
    readonly taskIdType?: IdType;
    readonly runIdType?: IdType;
    readonly ttlMs?: number;
    readonly renewEveryMs?: number;
    readonly maxHoldMs?: number;
  };
  readonly jobs?: JobsOption;
  readonly effects?: { readonly table?: string; readonly schema?: string | undefined };
  readonly liveness?: Liveness | Judge;
  readonly timeFormat?: TimeFormat;
}

const TIME_FORMATS: readonly TimeFormat[] = ['sqlite-text', 'iso', 'epoch-ms', 'native'];

/** Checks the options, and puts every default in its place; a violated relation names both values. */
export function checkSettings(
  { tasks, jobs, lease = {}, effects, liveness, timeFormat }: RawOptions,
  dialect: Dialect,
  handle: Handle,
): Settings {
  checkObject('tasks', tasks);
  for (const name of ['table', 'id', 'stage'] as const) checkText(`tasks.${name}`, tasks[name]);
  if (tasks.updatedAt !== undefined) checkText('tasks.updatedAt', tasks.updatedAt);
  checkApart(tasks);
  if (tasks.transitions !== undefined) checkStages('tasks.transitions', tasks.transitions);
  checkObject('lease', lease);
  const { table = 'transition_lease', taskIdType = 'integer', runIdType = 'integer' } = lease;
  checkOwnName('lease.table', table);
  if (lease.schema !== undefined) checkOwnName('lease.schema', lease.schema);
  checkIdType('lease.taskIdType', taskIdType);
  checkIdType('lease.runIdType', runIdType);
  const format = timeFormat === undefined ? dialect.timeFormat : timeFormat;
  checkOneOf('timeFormat', format, TIME_FORMATS);
  const { ttlMs = DEFAULT_TIMING.ttlMs, renewEveryMs = DEFAULT_TIMING.renewEveryMs } = lease;
  const { maxHoldMs = DEFAULT_TIMING.maxHoldMs } = lease;
  const timing = Object.freeze({ ttlMs, renewEveryMs, maxHoldMs });
  checkTiming(timing);
  const { id, stage, updatedAt } = tasks;
  const callersTasks = new CallersTable(
    handle,
    tasks.table,
    updatedAt === undefined ? [id, stage] : [id, stage, updatedAt],
  );
  const schema = schemaOf(handle, table);
  const leaseTable = Object.freeze({ schema: lease.schema ?? schema, table });
  const effectTable = effects === undefined ? undefined : checkEffects(effects, leaseTable);
  const checkedJobs = jobs === undefined ? undefined : checkJobs(jobs, handle);
  const callers = { 'tasks.table': callersTasks.named, 'jobs.table': checkedJobs?.table.named };
  checkOwnTable('lease.table', leaseTable, callers);
  checkOwnTable('effects.table', effectTable, {
    'lease.table': leaseTable,
    ...callers,
  });
  return Object.freeze({
    timing,
    taskIdType,
    runIdType,
    timeFormat: format,
    liveness: livenessOf(liveness),
    transitions: tasks.transitions && keptStages(tasks.transitions),
    schema,
    leaseFollowsHandle: lease.schema === undefined,
    leaseTable,
    effectTable,
    jobs: checkedJobs,
    tasks: callersTasks,
    updatedAtColumn: tasks.updatedAt,
    idColumn: tasks.id,
    stageColumn: tasks.stage,
  });
}

/** Refuses two parts of a task in one column. */
function checkApart({ id, stage, updatedAt }: RawOptions['tasks']): void {
  if (stage === id) throw new RangeError(`tasks.stage must not be tasks.id, got ${shown(id)} for both`);
  if (updatedAt === id || updatedAt === stage)
    throw new RangeError(`tasks.updatedAt must be a column of its own, got ${shown(updatedAt)}`);
}

/** Checks where the journal of effects is to be. */
function checkEffects(
  effects: NonNullable<RawOptions['effects']>,
  lease: Settings['leaseTable'],
): NonNullable<Settings['effectTable']> {
  checkObject('effects', effects);
  const { table = 'transition_effect', schema = lease.schema } = effects;
  checkOwnName('effects.table', table);
  if (schema !== undefined) checkOwnName('effects.schema', schema);
  return Object.freeze({ schema, table });
}

/** Refuses a table of the library's own that is another's; some databases take names in capitals for the same. */
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
      throw new RangeError(`${name} must not be ${otherName}, got ${shown(table)} and ${shown(other)}`);
  }
}
