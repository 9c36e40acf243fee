import type {
  IdColumn,
  IdType,
  JobsOption,
  MovesOf,
  OwnershipOptions,
  ShapeOf,
  StageColumn,
  TableOf,
  TransitionOwnership,
} from '../../index.js';

/** What you pass to `createTransitionOwnership`, without what the simulated process brings: its database and its ports. */
export type SimulatedOwnershipOptions<
  DB,
  T extends TableOf<DB>,
  Id extends string,
  Stage extends string,
  Moves,
  TaskIdType extends IdType,
  RunIdType extends IdType,
  Jobs extends JobsOption | undefined = undefined,
> = Omit<
  OwnershipOptions<DB, T, Id, Stage, Moves, TaskIdType, RunIdType, Jobs>,
  'db' | 'identity' | 'clock' | 'processes' | 'files' | 'registry' | 'randomness'
>;

/** Makes an ownership as one simulated process has it. */
export interface CreateOwnership<DB> {
  /**
   * Makes an ownership wired to this process: its connection, identity, pid table, claim registry, chance, and virtual
   * time for both the process and the database.
   *
   * `lease.acquired` and `stage.changed` are noted as facts, for the ready invariants.
   */
  <
    T extends TableOf<DB>,
    Id extends IdColumn<DB, T, TaskIdType>,
    Stage extends StageColumn<DB, T>,
    const Moves extends MovesOf<DB, T, Stage> | undefined = undefined,
    TaskIdType extends IdType = 'integer',
    RunIdType extends IdType = 'integer',
    const Jobs extends JobsOption | undefined = undefined,
  >(
    options: SimulatedOwnershipOptions<DB, T, Id, Stage, Moves, TaskIdType, RunIdType, Jobs>,
  ): TransitionOwnership<ShapeOf<DB, T, Id, Stage, Moves, TaskIdType, RunIdType, Jobs>>;
}
