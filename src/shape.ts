import type { Selectable, Updateable } from 'kysely';
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
  /** The id of a job. */
  readonly jobId: IdValue;
  /** A row of the jobs table. */
  readonly job: object;
  /** Columns of a job that a claim or a requeue may set. */
  readonly jobSet: object;
}

/** A table of the caller's database. */
export type TableOf<DB> = keyof DB & string;

/** The columns of a table whose values fit a type. */
export type ColumnOf<DB, T extends TableOf<DB>, Value = unknown> = {
  [C in keyof Selectable<DB[T]> & string]: Selectable<DB[T]>[C] extends Value ? C : never;
}[keyof Selectable<DB[T]> & string];

/** The value of a column. */
export type ValueOf<DB, T extends TableOf<DB>, C> = C extends keyof Selectable<DB[T]> ? Selectable<DB[T]>[C] : never;

/** The values that a column may have for its ids to be of a type; drivers differ in how they read a bigint. */
export type StoredId<I extends IdType> = I extends 'integer' ? number : I extends 'text' ? string : IdValue;

/** An id in the caller's hands: the column's own type, a bigint where ids are `bigint`. */
export type IdOf<Value, I extends IdType> = I extends 'bigint'
  ? Extract<Value, bigint> extends never
    ? bigint
    : Extract<Value, bigint>
  : I extends 'integer'
    ? Extract<Value, number>
    : Extract<Value, string>;

/** The columns of a table that may be set beside those that the library writes. */
export type SetOf<DB, T extends TableOf<DB>, Written extends string> = Omit<Updateable<DB[T]>, Written>;

/** The stages that follow a stage. */
export type NextStage<S extends Shape, From> = From extends keyof S['moves'] ? S['moves'][From] : S['stage'];
