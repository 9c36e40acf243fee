import { sql } from 'kysely';
import type { IdType } from '../core/id.js';
import type { Dialect, Fragment } from '../dialect/dialect.js';
import type { CallersTable } from './callers-table.js';
import type { StoredTimes } from './columns-found.js';

/** The caller's jobs table, by the names of the option `jobs`. */
export interface JobNames {
  readonly table: CallersTable;
  readonly id: string;
  readonly taskId: string;
  readonly status: string;
  readonly runId: string;
  readonly pid: string;
  readonly startedAt: string;
  readonly finishedAt: string | undefined;
  readonly availableAt: string | undefined;
  readonly host: string | undefined;
  readonly pidStart: string | undefined;
  readonly claim: string | undefined;
  readonly alsoClear: readonly string[];
  readonly statuses: { readonly queued: string; readonly running: string; readonly failed: string };
}

/** The option `jobs` after its check. */
export interface JobSettings extends JobNames {
  readonly idType: IdType;
  readonly singleHost: boolean;
}

/** What the columns hold. */
export interface JobTypes {
  readonly idType: IdType;
  readonly taskIdType: IdType;
  readonly runIdType: IdType;
  readonly times: StoredTimes;
}

/** The columns that are null in a queued job. */
export function runColumns(names: JobNames): readonly string[] {
  const { runId, pid, startedAt, finishedAt, host, pidStart, claim, alsoClear } = names;
  const mapped = [finishedAt, host, pidStart, claim].filter((name) => name !== undefined);
  return [runId, pid, startedAt, ...mapped, ...alsoClear];
}

/** What statements on jobs are made of. */
export function jobColumns(dialect: Dialect, names: JobNames, { idType, taskIdType, runIdType, times }: JobTypes) {
  const column = (name: string): Fragment => names.table.column(name);
  const id = column(names.id);
  const status = column(names.status);
  const runId = column(names.runId);
  const pid = column(names.pid);
  const startedAt = column(names.startedAt);
  const availableAt = names.availableAt === undefined ? undefined : column(names.availableAt);
  const claim = names.claim === undefined ? undefined : column(names.claim);
  const taskId = column(names.taskId);
  const started = dialect.instantText(times.startedAt, startedAt);
  const optional = (name: string | undefined): Fragment =>
    name === undefined ? sql`null` : dialect.readId('text', column(name));
  /** A name that none of the caller's columns has. */
  const as = (value: Fragment, name: string): Fragment => sql`${value} as ${sql.id(`job:${name}`)}`;

  const key = as(dialect.readId(idType, id), 'id');
  const seen = sql.join([
    key,
    as(dialect.readId(taskIdType, taskId), 'task'),
    as(dialect.readId(runIdType, runId), 'run'),
    as(pid, 'pid'),
    as(started, 'started'),
    as(startedAt, 'started-at'),
    ...(claim === undefined ? [] : [as(dialect.readId('text', claim), 'claim')]),
  ]);
  const hasTaskId =
    names.taskId === names.id ? sql`1 = 1` : sql`(${taskId} is null or ${dialect.holdsId(taskIdType, taskId)})`;
  return {
    table: names.table.table,
    column,
    id,
    runId,
    pid,
    startedAt,
    as,
    /** The id alone. */
    key,
    /** The run ownership of a job, as a compare-and-swap needs it. */
    seen,
    /** All the caller's columns, and all that the library reads. */
    whole: sql`*, ${seen}, ${sql.join([
      as(optional(names.host), 'host'),
      as(optional(names.pidStart), 'pid-start'),
      as(dialect.epochMs(times.startedAt, startedAt), 'started-ms'),
      as(dialect.nowMs, 'now-ms'),
    ])}`,
    /** How long ago a run started, in ms of the database's clock. */
    ageMs: sql`${dialect.nowMs} - ${dialect.epochMs(times.startedAt, startedAt)}`,
    /** Now, as the start or the end of a run. */
    now: (column: 'startedAt' | 'finishedAt'): Fragment => dialect.instant(times[column], dialect.nowMs),
    isJob: (jobId: Fragment): Fragment<boolean> => dialect.sameId(idType, id, jobId),
    inStatus: (spelling: string): Fragment<boolean> => dialect.sameId('text', status, sql.lit(spelling)),
    setStatus: (spelling: string): Fragment => sql`${status} = ${sql.lit(spelling)}`,
    isRun: (run: Fragment): Fragment<boolean> =>
      runIdType === 'text' ? dialect.sameText(runId, run) : dialect.same(runId, run),
    isPid: (number: Fragment): Fragment<boolean> => dialect.same(pid, number),
    hasStarted: (text: Fragment): Fragment<boolean> => dialect.sameText(started, text),
    /** The claim of a run, where claims are mapped; nothing else is compared. */
    hasClaim: (nonce: Fragment): readonly Fragment<boolean>[] =>
      claim === undefined ? [] : [dialect.sameText(claim, nonce)],
    /** The id as text, exact also where it cannot be read as its type. */
    exact: as(dialect.readId('bigint', id), 'exact'),
    /** Its ids are of the types that were said: whoever took it otherwise could never name it. */
    isReadable: sql<boolean>`(${dialect.holdsId(idType, id)} and ${hasTaskId})`,
    isDue:
      availableAt === undefined
        ? sql`1 = 1`
        : sql`(${availableAt} is null or ${dialect.epochMs(times.availableAt, availableAt)} <= ${dialect.nowMs})`,
    isImpossible: sql`(${sql.join(
      [runId, pid, startedAt, ...(claim === undefined ? [] : [claim])].map((column) => sql`${column} is not null`),
      sql` or `,
    )})`,
  };
}

/** The pieces of statements on jobs. */
export type JobColumns = ReturnType<typeof jobColumns>;
