import type { Awaitable } from '../store/store.js';
import type { Interner } from './interner.js';
import type { Choice } from './parked.js';

/** Chooses what happens next: the place of a choice, or -1 to leave the schedule. */
export type Pick = (choices: readonly Choice[]) => Awaitable<number>;

/** How one schedule is run. */
export interface SimulationOptions {
  /** Numbers what is seen; shared by the schedules of one exploration. */
  readonly interner?: Interner;
  /** A schedule of more steps is a livelock. Default: 400. */
  readonly maxSteps?: number;
  /** Whether each step also notes what it changed in the tables: for showing, it costs a snapshot a step. */
  readonly drawn?: boolean;
}

/** Virtual time, in milliseconds, at which every schedule begins. */
export const startMs = 1_000_000;
