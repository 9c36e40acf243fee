import type { AnyTasks, IdType, JobsOption, OwnershipOptions, ShapeGiven, TransitionOwnership } from '../../index.js';

/** What you pass to `createTransitionOwnership`, without what the simulated process brings: its database and its ports. */
export type SimulatedOwnershipOptions<
  DB,
  Tasks extends AnyTasks,
  TaskIdType extends IdType,
  RunIdType extends IdType,
  Jobs extends JobsOption | undefined = undefined,
> = Omit<
  OwnershipOptions<DB, Tasks, TaskIdType, RunIdType, Jobs>,
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
    const Tasks extends AnyTasks,
    TaskIdType extends IdType = 'integer',
    RunIdType extends IdType = 'integer',
    const Jobs extends JobsOption | undefined = undefined,
  >(
    options: SimulatedOwnershipOptions<DB, Tasks, TaskIdType, RunIdType, Jobs>,
  ): TransitionOwnership<ShapeGiven<DB, Tasks, TaskIdType, RunIdType, Jobs>>;
}
