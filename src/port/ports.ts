import type { ProcessIdentity } from '../core/process.js';
import type { ClaimRegistry } from './claim-registry.js';
import type { Clock } from './clock.js';
import type { Files } from './files.js';
import type { ProcessTable } from './process-table.js';
import type { Randomness } from './randomness.js';

/** Everything an ownership needs of the world besides the database; each part can be replaced in a test. */
export interface Ports {
  /** Local time. Default: the process's own clocks. */
  readonly clock: Clock;
  /** Who this process is. Default: read from the operating system once per process. */
  readonly identity: ProcessIdentity;
  /** Looks up pids. Default: signal 0 and, on Linux, `/proc`. */
  readonly processes: ProcessTable;
  /** Distinguishes a database file from another in its place. Default: device and inode. */
  readonly files: Files;
  /** The claims of this process. Default: one per process, shared by all copies of the package. */
  readonly registry: ClaimRegistry;
  /** Chance. Default: the operating system's. */
  readonly randomness: Randomness;
}
