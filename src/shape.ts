import type { Expression, ExpressionBuilder, Selectable, SqlBool, Updateable } from 'kysely';
import type { IdType, IdValue } from './core/id.js';

/** The types that an ownership was made with, inferred from the caller's database; every verb speaks them. */
export interface Shape {
  /** The id of a task. */
  readonly taskId: IdValue;
  /** The stage of a task. */
  readonly stage: string | null;
  /** From each stage, the stages that a task may go to next. */
  readonly moves: object;
  /** Further columns that a stage write may set. */
  readonly taskSet: object;
  /** The id of a run. */
  readonly runId: IdValue;
  /** Your jobs; `undefined` without the option `jobs`. */
  readonly jobs: JobShape | undefined;
  /**
   * True with the option `scope`: each request then says its `context`. Never without it: such an ownership can stand
   * wherever one with a scope can.
   */
  readonly scoped: boolean;
}

/** What the option `scope` decides by: must be said with that option, and says nothing without it. */
export type ContextOf<S extends Shape> = [S['scoped']] extends [never]
  ? PossibleContext
  : [S['scoped']] extends [true]
    ? DemandedContext
    : PossibleContext;

/** The context of a request to an ownership with a scope. */
export interface DemandedContext {
  /** Whatever `scope` needs to decide, the task's repository for instance; `undefined` is inside the scope. */
  readonly context: unknown;
}

/** The context of a request to an ownership without a scope. */
export interface PossibleContext {
  /** Whatever a `scope` needs to decide. */
  readonly context?: unknown;
}

/** The types of the jobs that an ownership was made with. */
export interface JobShape {
  /** The id of a job. */
  readonly id: IdValue;
  /** A row of the jobs table. */
  readonly row: object;
  /** The status of a job. */
  readonly status: string;
  /** When a job was started, as its column is read. */
  readonly startedAt: unknown;
  /** A column of the jobs table. */
  readonly column: string;
  /** Which jobs a claim may take: values by column, or an expression. */
  readonly where: object;
  /** Columns that a claim may set beside those that the library writes. */
  readonly claimSet: object;
  /** Columns that a requeue may set beside those that it clears. */
  readonly requeueSet: object;
  /** The columns of run ownership, cleared. */
  readonly cleared: object;
}

/** A {@link Shape} with jobs: what the verbs on jobs ask of an ownership. */
export interface ShapeWithJobs extends Shape {
  readonly jobs: JobShape;
}

/** A table of the caller's database. */
export type TableOf<DB> = keyof DB & string;

/** The part of a type that fits another; all of that one where no one has said what a column holds. */
export type Fitting<Value, Wanted> = unknown extends Value ? Wanted : Extract<Value, Wanted>;

/** The columns of a table whose values fit a type. */
export type ColumnOf<DB, T extends TableOf<DB>, Value = unknown> = {
  [C in keyof Selectable<DB[T]> & string]: unknown extends Selectable<DB[T]>[C]
    ? C
    : Selectable<DB[T]>[C] extends Value
      ? C
      : never;
}[keyof Selectable<DB[T]> & string];

/** A row of a table, as it is read. */
export type RowOf<DB, T extends TableOf<DB>> = { readonly [C in keyof Selectable<DB[T]>]: Selectable<DB[T]>[C] };

/** The value of a column. */
export type ValueOf<DB, T extends TableOf<DB>, C> = C extends keyof Selectable<DB[T]> ? Selectable<DB[T]>[C] : never;

/** The values that a column may have for its ids to be of a type; drivers differ in how they read a bigint. */
export type StoredId<I extends IdType> = I extends 'integer' ? number : I extends 'text' ? string : IdValue;

/** An id in the caller's hands: the column's own type, a bigint where ids are `bigint`. */
export type IdOf<Value, I extends IdType> = I extends 'bigint'
  ? Fitting<Value, bigint> extends never
    ? bigint
    : Fitting<Value, bigint>
  : I extends 'integer'
    ? Fitting<Value, number>
    : Fitting<Value, string>;

/** The columns of a table that may be null and whose other values fit a type. */
export type NullableColumnOf<DB, T extends TableOf<DB>, Value = unknown> = {
  [C in ColumnOf<DB, T, Value | null>]: null extends Selectable<DB[T]>[C] ? C : never;
}[ColumnOf<DB, T, Value | null>];

/** The columns of a table that may be set beside those that the library writes. */
export type SetOf<DB, T extends TableOf<DB>, Written extends string> = Omit<Updateable<DB[T]>, Written>;

/** The stages that follow a stage. */
export type NextStage<S extends Shape, From> = From extends keyof S['moves'] ? S['moves'][From] : S['stage'];

/** Conditions on the rows of a table: values by column (`null` is a value), or an expression of Kysely's builder. */
export type WhereOf<DB, T extends TableOf<DB>> =
  | { readonly [C in keyof Selectable<DB[T]>]?: Selectable<DB[T]>[C] }
  | ((eb: ExpressionBuilder<DB, T>) => Expression<SqlBool>);

/** Columns to set: to a value, or to an expression of the row as it was before. */
export type AssignmentsOf<DB, T extends TableOf<DB>, Written extends string> = {
  readonly [C in keyof SetOf<DB, T, Written>]?:
    | SetOf<DB, T, Written>[C]
    | Expression<SetOf<DB, T, Written>[C]>
    | ((eb: ExpressionBuilder<DB, T>) => Expression<SetOf<DB, T, Written>[C]>);
};
