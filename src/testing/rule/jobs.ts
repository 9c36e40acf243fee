import { list, optional, type RulesOf, requestOf, text } from '../../core/request.js';
import type { AnyTables } from '../store/store.js';
import { type Invariant, invariant } from '../world/invariant.js';

/** Where a rule finds the jobs. */
export interface JobTable {
  /** The table of jobs. Default: `jobs`. */
  readonly table?: string;
  /** Its id column. Default: `id`. */
  readonly id?: string;
  /** Its status column. Default: `status`. */
  readonly status?: string;
  /** What that says of a job that waits. Default: `queued`. */
  readonly queued?: string;
  /** The columns that tell of a run. Default: `run_id`, `pid`, `started_at`. */
  readonly owned?: readonly string[];
}

const check = requestOf(
  {
    table: optional(text, 'jobs'),
    id: optional(text, 'id'),
    status: optional(text, 'status'),
    queued: optional(text, 'queued'),
    owned: optional(list(text), ['run_id', 'pid', 'started_at']),
  } satisfies RulesOf<JobTable>,
  'jobs',
);

/** A queued job belongs to no run: it names no run, no pid and no start. */
export function noQueuedRunOwnership<DB = AnyTables>(jobs: JobTable = {}): Invariant<DB> {
  const { table, id, status, queued, owned } = check(jobs);
  return invariant<DB>('a queued job belongs to no run', (world) => {
    for (const row of world.rows(table)) {
      if (row[status] !== queued) continue;
      const set = owned.filter((column) => row[column] !== null && row[column] !== undefined);
      if (set.length > 0) return `job ${String(row[id])} is queued and has ${set.join(', ')}`;
    }
    return true;
  });
}
