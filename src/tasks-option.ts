import type { Expression, ExpressionBuilder } from 'kysely';
import type { IdType } from './core/id.js';
import type { ColumnOf, Fitting, StoredId, TableOf, ValueOf } from './shape.js';

/** A column that every stage write stamps with a value of your own. */
export interface StampOption<DB, T extends TableOf<DB>> {
  readonly column: ColumnOf<DB, T>;
  /** Made anew for each write. */
  readonly value: (eb: ExpressionBuilder<DB, T>) => Expression<unknown>;
}

/** Where your tasks are. */
export interface TasksOption<DB, T extends TableOf<DB>, Id extends string, Stage extends string, Moves> {
  /** The table. */
  readonly table: T;
  /** Its id column. */
  readonly id: Id;
  /** Its stage column. */
  readonly stage: Stage;
  /** A column that every stage write stamps with the database's now, or with a value of yours. */
  readonly updatedAt?: ColumnOf<DB, T> | StampOption<DB, T> | undefined;
  /** Which moves are legal, by `defineStages`. Default: all. */
  readonly transitions?: Moves | undefined;
}

/** The columns that can be the id of a task. */
export type IdColumn<DB, T extends TableOf<DB>, I extends IdType> = ColumnOf<DB, T, StoredId<I>>;

/** The columns that can be the stage of a task. */
export type StageColumn<DB, T extends TableOf<DB>> = ColumnOf<DB, T, string | null>;

/** A map whose stages are all stages of the column. */
export type MovesOf<DB, T extends TableOf<DB>, Stage> = {
  readonly [From in Fitting<ValueOf<DB, T, Stage>, string>]?: readonly Fitting<ValueOf<DB, T, Stage>, string>[];
};
