import type { Address } from './orchestrator.js';

/** What a worker is told at its start; its only argument. It works until its stdin ends. */
export interface WorkerSetup {
  readonly address: Address;
  readonly log: string;
  readonly seed: number;
  /** A worker does jobs; the reaper cleans up after workers. */
  readonly role: 'worker' | 'reaper';
  /** A guard that it leaves out. */
  readonly breaks?: Breakage | undefined;
}

/** `fence`: the stage is written past the library, whether the lease is still there or not. */
export type Breakage = 'fence';

/** What a worker says when it has recovered and takes work. */
export const AT_WORK = 'at work';
