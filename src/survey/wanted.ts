import type { Part, Settings } from '../context.js';
import type { IdType } from '../core/id.js';
import type { ProcessIdentity } from '../core/process.js';
import type { NamedTable } from '../dialect/dialect.js';
import type { CallersTable } from '../sql/callers-table.js';
import type { StoredTimes } from '../sql/columns-found.js';
import { effectTable, leaseTable } from '../sql/tables.js';

/** What is asked of one column. */
export interface WantedColumn {
  readonly name: string;
  readonly idType?: IdType;
  /** True of the id that each write goes by. */
  readonly isKey?: boolean;
  readonly time?: keyof StoredTimes;
  /** True of a time that distinguishes nothing. */
  readonly coarse?: boolean;
  readonly written?: boolean;
  readonly cleared?: boolean;
  /** Values that are certainly written. */
  readonly values?: readonly string[];
  /** How many characters a value may have that another process writes. */
  readonly most?: number;
}

/** What is asked of one table. */
export interface WantedTable extends NamedTable {
  readonly part: Part;
  /** As a finding names it. */
  readonly name: string;
  readonly isOwn: boolean;
  readonly columns: readonly WantedColumn[];
}

/** Kernel boot, two namespaces, and a host name of 64 characters. */
const LONGEST_HOST = 136;

/** As long as a nonce. */
const NONCE = '0'.repeat(32);

/** The tables that an ownership reads and writes, as its options name them. */
export function wantedTables(settings: Settings, identity: ProcessIdentity): readonly WantedTable[] {
  const { taskIdType, runIdType, jobs, leaseTable: lease, effectTable: effects } = settings;
  const shaped = (type: IdType) => (type === 'text' ? 'text' : 'integer');
  const own = (shape: ReturnType<typeof leaseTable>, isKey: boolean): readonly WantedColumn[] =>
    shape.columns.map(({ name }) => ({ name, ...(name === 'task_id' && { idType: taskIdType, isKey }) }));
  return [
    { ...table('tasks', settings.tasks.named), columns: taskColumns(settings) },
    { ...table('lease', lease), columns: own(leaseTable(shaped(taskIdType), shaped(runIdType)), true) },
    ...(effects === undefined
      ? []
      : [{ ...table('effects', effects), columns: own(effectTable(shaped(taskIdType)), false) }]),
    ...(jobs === undefined
      ? []
      : [{ ...table('jobs', jobs.table.named), columns: jobColumns(jobs, settings, identity) }]),
  ];
}

function table(part: Part, { schema, table }: NamedTable): Omit<WantedTable, 'columns'> {
  const name = schema === undefined ? table : `${schema}.${table}`;
  return { part, schema, table, name, isOwn: part === 'lease' || part === 'effects' };
}

function taskColumns(settings: Settings): WantedColumn[] {
  const { tasks, idColumn, stageColumn, updatedAtColumn, taskIdType, transitions } = settings;
  const stages = Object.entries(transitions ?? {}).flatMap(([from, to]) => [from, ...(to ?? [])]);
  return asSpelled(tasks, [
    { name: idColumn, idType: taskIdType, isKey: true },
    { name: stageColumn, written: true, values: stages },
    ...named(updatedAtColumn, { written: true, ...(settings.updatedAtValue === undefined && { time: 'updatedAt' }) }),
  ]);
}

function jobColumns(
  jobs: NonNullable<Settings['jobs']>,
  { taskIdType }: Settings,
  { host, start }: ProcessIdentity,
): WantedColumn[] {
  const ofRun = { written: true, cleared: true } as const;
  return asSpelled(jobs.table, [
    { name: jobs.id, idType: jobs.idType, isKey: true },
    { name: jobs.taskId, idType: taskIdType },
    { name: jobs.status, written: true, values: Object.values(jobs.statuses) },
    ...[jobs.runId, jobs.pid, ...jobs.alsoClear].map((name) => ({ name, ...ofRun })),
    { name: jobs.startedAt, ...ofRun, time: 'startedAt', coarse: jobs.claim !== undefined },
    ...named(jobs.finishedAt, { ...ofRun, time: 'finishedAt' }),
    ...named(jobs.availableAt, { time: 'availableAt' }),
    ...named(jobs.host, { ...ofRun, values: [host], most: LONGEST_HOST }),
    ...named(jobs.claim, { ...ofRun, values: [NONCE] }),
    ...named(jobs.pidStart, { ...ofRun, values: start === null ? [] : [start] }),
  ]);
}

/** Columns by their names in the database. */
function asSpelled(table: CallersTable, columns: readonly WantedColumn[]): WantedColumn[] {
  return columns.map((column) => ({ ...column, name: table.spelled(column.name) }));
}

const named = (name: string | undefined, column: Omit<WantedColumn, 'name'>): WantedColumn[] =>
  name === undefined ? [] : [{ name, ...column }];
