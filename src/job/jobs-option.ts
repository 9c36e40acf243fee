import type { IdType } from '../core/id.js';
import type {
  AssignmentsOf,
  ColumnOf,
  Fitting,
  IdOf,
  NullableColumnOf,
  RowOf,
  StoredId,
  TableOf,
  ValueOf,
  WhereOf,
} from '../shape.js';

/** The statuses of a job that the library writes. */
export interface JobStatuses {
  /** Waits for a worker, and carries no trace of a run. */
  readonly queued: string;
  /** Was taken by a worker. */
  readonly running: string;
  /** Ended badly, and is not run again by itself. */
  readonly failed: string;
}

/** Where your jobs are: a queue in a table of yours. The library alters no column, and writes only those named here. */
export interface JobsOption {
  /** The table. An index on (status, id) makes every statement on it as small as what it reads. */
  readonly table: string;
  /** Its id column: its primary key. */
  readonly id: string;
  /** The task that a job is about; may be null. It is the id itself where jobs and tasks are one table. */
  readonly taskId: string;
  /** The status of a job. */
  readonly status: string;
  /** The run that has the job; null while it is queued. Of the type of `lease.runIdType`. */
  readonly runId: string;
  /** The pid of that run's process; null while it is queued or not yet started. */
  readonly pid: string;
  /** When it was claimed, in `timeFormat` with milliseconds; null while it is queued. */
  readonly startedAt: string;
  /** When it ended; cleared whenever it goes back to the queue. */
  readonly finishedAt?: string;
  /** Not before when it may be claimed, in `timeFormat`; null for at once. What cannot be read is never due. */
  readonly availableAt?: string;
  /** The host scope in which `pid` means something. Together with `pidStart`. */
  readonly host?: string;
  /** The start mark of `pid`: a reused pid has another. Together with `host`. */
  readonly pidStart?: string;
  /**
   * A text column, of 32 characters at least, that each claim writes a nonce into, cleared with the run: what tells
   * one claim of a job from another. Without it they are told apart by `startedAt` alone, and two claims within one
   * unit of that column (a millisecond; a second in MySQL's `datetime`) are not: a worker whose job was claimed again
   * within that unit may still stamp it.
   */
  readonly claim?: string;
  /** What job ids are. Default `'integer'`: numbers up to 2^53 - 1. */
  readonly idType?: IdType;
  /** How the column spells the statuses. */
  readonly statuses: JobStatuses;
  /**
   * True if every job runs on this host: a bare pid is then evidence. Default false: without `host` and
   * `pidStart`, or a probe of yours, pids prove nothing.
   */
  readonly singleHost?: boolean;
  /** Further columns that belong to a run and are cleared with it. */
  readonly alsoClear?: readonly string[];
}

type IdTypeOf<J extends JobsOption> = J extends { readonly idType: infer I extends IdType } ? I : 'integer';
type Unknown<J> = { readonly [Name in Exclude<keyof J, keyof JobsOption>]: never };

/** The columns of one table that each part of the option can be. */
export interface JobColumnsIn<
  DB,
  T extends TableOf<DB>,
  J extends JobsOption,
  TaskIdType extends IdType,
  RunIdType extends IdType,
> {
  readonly table: T;
  readonly id: ColumnOf<DB, T, StoredId<IdTypeOf<J>>>;
  readonly taskId: ColumnOf<DB, T, StoredId<TaskIdType> | null>;
  readonly status: ColumnOf<DB, T, string | null>;
  readonly runId: NullableColumnOf<DB, T, StoredId<RunIdType>>;
  readonly pid: NullableColumnOf<DB, T, number>;
  readonly startedAt: NullableColumnOf<DB, T>;
  readonly finishedAt?: NullableColumnOf<DB, T>;
  readonly availableAt?: ColumnOf<DB, T>;
  readonly host?: NullableColumnOf<DB, T, string>;
  readonly pidStart?: NullableColumnOf<DB, T, string>;
  readonly claim?: NullableColumnOf<DB, T, string>;
  readonly statuses: { readonly [S in keyof JobStatuses]: Fitting<ValueOf<DB, T, J['status']>, string> };
  readonly alsoClear?: readonly NullableColumnOf<DB, T>[];
}

/** What the same option may be in one database: its tables, columns and statuses. */
export type JobsIn<DB, Jobs, TaskIdType extends IdType, RunIdType extends IdType> = Jobs extends JobsOption
  ? Unknown<Jobs> &
      (Jobs['table'] extends TableOf<DB>
        ? JobColumnsIn<DB, Jobs['table'], Jobs, TaskIdType, RunIdType>
        : { readonly table: TableOf<DB> })
  : unknown;

/**
 * The option as it was given if it fits one database, else what would fit: a wrong table, column or status does not
 * compile, and the compiler names it. (An intersection of the two is `never`, and names nothing.)
 */
export type CheckedJobs<DB, Jobs, TaskIdType extends IdType, RunIdType extends IdType> = [Jobs] extends [
  JobsIn<DB, Jobs, TaskIdType, RunIdType>,
]
  ? Jobs
  : JobsIn<DB, Jobs, TaskIdType, RunIdType>;

type Named<J, Name extends keyof JobsOption> = J extends { readonly [N in Name]: infer C extends string } ? C : never;

/** The columns that are null in a queued job. */
type Cleared<J extends JobsOption> =
  | J['runId' | 'pid' | 'startedAt']
  | Named<J, 'finishedAt'>
  | Named<J, 'host'>
  | Named<J, 'pidStart'>
  | Named<J, 'claim'>;
type AlsoCleared<J> = J extends { readonly alsoClear: readonly (infer C extends string)[] } ? C : never;
type Written<J extends JobsOption> = J['id' | 'status'] | Cleared<J>;

type ShapeIn<DB, T extends TableOf<DB>, J extends JobsOption> = {
  readonly id: IdOf<ValueOf<DB, T, J['id']>, IdTypeOf<J>>;
  readonly row: RowOf<DB, T>;
  readonly status: Fitting<ValueOf<DB, T, J['status']>, string>;
  readonly startedAt: ValueOf<DB, T, J['startedAt']>;
  readonly column: ColumnOf<DB, T>;
  readonly where: WhereOf<DB, T>;
  readonly claimSet: AssignmentsOf<DB, T, Written<J>>;
  readonly requeueSet: AssignmentsOf<DB, T, Written<J> | AlsoCleared<J>>;
  readonly cleared: { readonly [C in J['status']]: J['statuses']['queued'] } & {
    readonly [C in Cleared<J> | AlsoCleared<J>]: null;
  };
};

/** The types of the jobs, inferred from the option; `undefined` without it. */
export type JobShapeOf<DB, Jobs> = Jobs extends JobsOption
  ? Jobs['table'] extends TableOf<DB>
    ? ShapeIn<DB, Jobs['table'], Jobs>
    : never
  : undefined;
