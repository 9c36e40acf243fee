import type { Expression, ExpressionBuilder, Selectable } from 'kysely';
import type { IdType, IdValue } from './core/id.js';
import { callable, idType, object, optional, type Rule, type RulesOf, text } from './core/request.js';
import { checkStages, keptStages, type StageMap } from './core/stages.js';
import type { ColumnOf, Fitting, StoredId, TableOf, ValueOf } from './shape.js';

/** A column that every stage write stamps with a value of your own. */
export interface StampOption<DB, T extends TableOf<DB>> {
  readonly column: ColumnOf<DB, T>;
  /** Made anew for each write. */
  readonly value: (eb: ExpressionBuilder<DB, T>) => Expression<unknown>;
}

/** Where your tasks are. */
export interface TasksOption<DB, T extends TableOf<DB>> {
  /** The table. */
  readonly table: T;
  /** Its id column. */
  readonly id: Columns<DB, T, IdValue>['names'];
  /** What task ids are. Default `'integer'`: numbers up to 2^53 - 1. */
  readonly idType?: IdType | undefined;
  /** Its stage column. */
  readonly stage: Columns<DB, T, string | null>['names'];
  /** A column that every stage write stamps with the database's now, or with a value of yours. */
  readonly updatedAt?: Columns<DB, T>['names'] | StampOption<DB, T> | undefined;
  /** Which moves are legal, by `defineStages`. Default: all. */
  readonly transitions?: { readonly [Stage: string]: readonly string[] | undefined } | undefined;
}

/** The columns of {@link ColumnOf}, which the compiler names one by one: it would show an alias by its own name. */
interface Columns<DB, T extends TableOf<DB>, Value = unknown> {
  readonly names: {
    [C in keyof Selectable<DB[T]> & string]: unknown extends Selectable<DB[T]>[C]
      ? C
      : Selectable<DB[T]>[C] extends Value
        ? C
        : never;
  }[keyof Selectable<DB[T]> & string];
}

/**
 * What the option may be in one database: each table with its own columns, so that an editor offers those, and the
 * compiler names them.
 */
export type TasksIn<DB> = { readonly [T in TableOf<DB>]: TasksOption<DB, T> }[TableOf<DB>];

/** The columns that can be the id of a task. */
export type IdColumn<DB, T extends TableOf<DB>, I extends IdType> = ColumnOf<DB, T, StoredId<I>>;

/** The columns that can be the stage of a task. */
export type StageColumn<DB, T extends TableOf<DB>> = ColumnOf<DB, T, string | null>;

/**
 * The option as it was given if it fits one database, else what would fit: a wrong column does not compile, and the
 * compiler names those of its table.
 */
export type CheckedTasks<DB, Tasks extends AnyTasks, Usual extends IdType> = [Tasks] extends [
  TasksIn<DB> & TasksFit<DB, Tasks, Usual>,
]
  ? Tasks
  : Tasks['table'] extends TableOf<DB>
    ? TasksOption<DB, Tasks['table']> & TasksFit<DB, Tasks, Usual>
    : TasksIn<DB>;

/** What the parts of the option ask of each other: ids of the type that is said, and moves to stages of the column. */
interface TasksFit<DB, Tasks extends AnyTasks, Usual extends IdType> {
  readonly id: FitId<ValueOf<DB, Tasks['table'] & TableOf<DB>, Tasks['id']>, TaskIdTypeOf<Tasks, Usual>, Tasks['id']>;
  readonly transitions?:
    | StagesOf<MovesSaid<Tasks>, Fitting<ValueOf<DB, Tasks['table'] & TableOf<DB>, Tasks['stage']>, string>>
    | undefined;
}

/** What the compiler says of an id column that holds ids of another type; anything goes for others. */
type FitId<Value, I extends IdType, Id extends string> = unknown extends Value
  ? unknown
  : [Value] extends [StoredId<I>]
    ? unknown
    : I extends 'text'
      ? [Value] extends [IdValue]
        ? Told<`${Id} is no text: say tasks.idType 'integer' or 'bigint'`>
        : unknown
      : [Value] extends [string]
        ? Told<`${Id} is text: say tasks.idType 'text'`>
        : [Value] extends [IdValue]
          ? Told<`${Id} is no number: say tasks.idType 'bigint'`>
          : unknown;

/** A type that nothing has, and that says why. */
type Told<Message extends string> = { readonly [M in Message]: never };

type StagesOf<Moves, Stage extends string> = {
  readonly [From in keyof Moves]: From extends Stage ? readonly Stage[] : `${From & string} is no stage of tasks.stage`;
};

/** The option in any database. */
export interface AnyTasks {
  readonly table: string;
  readonly id: string;
  readonly idType?: IdType | undefined;
  readonly stage: string;
  readonly transitions?: object | undefined;
}

/** What task ids are: said by `tasks.idType`, else by its elder alias `lease.taskIdType`. */
export type TaskIdTypeOf<Tasks, Usual extends IdType> = Tasks extends { readonly idType: infer I extends IdType }
  ? I
  : Usual;

/** The legal moves of the option, `undefined` without. */
export type MovesSaid<Tasks> = Tasks extends { readonly transitions: infer Moves } ? Moves : undefined;

/** A map of legal moves, kept as it is at this moment. */
const stages: Rule<StageMap> = (name) => (value) => {
  checkStages(name, value);
  return keptStages(value);
};

/** A column, or a column and what makes its value. */
const stamp: Rule<string | { readonly column: string; readonly value: (eb: unknown) => unknown }> = (name) => {
  const [asText, asStamp] = [text(name), object({ column: text, value: callable })(name)];
  return (value, ids) => (typeof value === 'object' && value !== null ? asStamp(value, ids) : asText(value, ids));
};

/**
 * What the option may say.
 *
 * @internal
 */
export const tasksRule = object({
  table: text,
  id: text,
  idType: optional(idType),
  stage: text,
  updatedAt: optional(stamp),
  transitions: optional(stages),
} satisfies RulesOf<TasksOption<Record<string, Record<string, string>>, string>>);
