import type { Awaitable } from '../store/store.js';
import type { Choice } from './choice.js';
import type { Interner } from './interner.js';
import type { LifeMemory } from './life-memory.js';

/** Chooses what happens next: the place of a choice, or -1 to leave the schedule. */
export type Pick = (choices: readonly Choice[]) => Awaitable<number>;

/** For each rule that was asked, what came of it so far over all schedules. */
export type Spoken = Map<string, 'silent' | 'spoke' | 'missed' | 'reached'>;

/** How one schedule is run. */
export interface SimulationOptions {
  /** Numbers what is seen; shared by the schedules of one exploration. */
  readonly interner?: Interner;
  /** How the processes went on after what they had seen; shared likewise. Without it nothing is compared. */
  readonly lives?: LifeMemory;
  /** Which rules have said something so far; shared likewise. */
  readonly spoken?: Spoken;
  /** A schedule of more steps is a livelock. Default: 400. */
  readonly maxSteps?: number;
  /** Whether each step also notes what it changed in the tables: for showing, it costs a snapshot a step. */
  readonly drawn?: boolean;
}
