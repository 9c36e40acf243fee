import type { Holds } from '../core/catalogue.js';
import type { StoredTime, TimeFormat } from '../dialect/dialect.js';

/** How each of the caller's time columns is stored. */
export interface StoredTimes {
  readonly updatedAt: StoredTime;
  readonly startedAt: StoredTime;
  readonly finishedAt: StoredTime;
  readonly availableAt: StoredTime;
}

/** What is known of the caller's columns: what the statements and their callers go by. */
export interface ColumnsFound {
  readonly times: StoredTimes;
  /** False where two tasks may have one id. */
  readonly uniqueTasks: boolean;
  /** False where two jobs may have one id. */
  readonly uniqueJobs: boolean;
  /** True where the next fencing tokens may be those of leases that are there. */
  readonly tokensBehind: boolean;
  /** What the ids of the tasks are, and the only ones that there can be; `null` where no one looked, or for any. */
  readonly idHolds: Holds | null;
  readonly idLabels: readonly string[] | null;
  /** The most characters of a stage, and the only stages that there can be; `null` for any. */
  readonly stageRoom: number | null;
  readonly stageLabels: readonly string[] | null;
}

/** What is taken for true of columns that no one has looked at. */
export function columnsAsSaid(format: TimeFormat): ColumnsFound {
  return Object.freeze({
    times: Object.freeze({ updatedAt: format, startedAt: format, finishedAt: format, availableAt: format }),
    uniqueTasks: true,
    uniqueJobs: true,
    tokensBehind: false,
    idHolds: null,
    idLabels: null,
    stageRoom: null,
    stageLabels: null,
  });
}
