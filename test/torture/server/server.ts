import type { Address } from '../orchestrator.js';

/** How a server is ended before it is started again: as by a crash, or as by its operator. */
export type Ending = 'crash' | 'order';

/** A database of the run's own. */
export interface Server {
  /** What it is, with its version. */
  readonly name: string;
  readonly address: Address;
  /** Ends it and starts it again, with what was committed; `undefined` where there is no server. */
  readonly restart?: ((ending: Ending) => Promise<void>) | undefined;
  /** Stops it and removes its files. */
  remove(): Promise<void>;
}

/** The programs of a server are not on this machine. */
export class NotInstalled extends Error {}
