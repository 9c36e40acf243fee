import type { ProcessSighting } from '../core/process.js';

/** Looks up processes of this host by pid. No signal is ever sent. */
export interface ProcessTable {
  /** Never throws: what is not known is `unknown`. */
  sight(pid: number): ProcessSighting;
}
