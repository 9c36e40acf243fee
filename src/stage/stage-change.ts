import type { IllegalTransition, LeaseBusy, LeaseLost, LostRace, StoreFailure, TaskNotFound } from '../core/failure.js';
import type { Shape } from '../shape.js';

/** A stage write that won. */
export interface StageMoved<TaskId, Stage> {
  /** The task that moved. */
  readonly taskId: TaskId;
  /** The stage that it was in. */
  readonly from: Stage;
  /** The stage that it is in. */
  readonly to: Stage;
  /** The token of the lease that fenced the write; `null` without one. */
  readonly fencingToken: number | null;
  /** True if the lease was given back in the same commit. */
  readonly released: boolean;
}

/** The same, with the types of an ownership. */
export type StageChange<S extends Shape = Shape> = StageMoved<S['taskId'], S['stage']>;

/** Why a stage write did not happen. */
export type StageFailure<S extends Shape = Shape> =
  | LostRace<S['stage']>
  | LeaseBusy
  | LeaseLost
  | TaskNotFound
  | IllegalTransition
  | StoreFailure;
