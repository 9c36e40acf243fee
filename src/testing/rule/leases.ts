import { optional, type RulesOf, requestOf, text } from '../../core/request.js';
import type { AnyTables, Row } from '../store/store.js';
import { type Invariant, invariant } from '../world/invariant.js';

/** Where a rule finds the leases. */
export interface LeaseTable {
  /** The lease table. Default: `transition_lease`. */
  readonly lease?: string;
}

const check = requestOf({ lease: optional(text, 'transition_lease') } satisfies RulesOf<LeaseTable>, 'table');

/** No row promises more than its time to live, nor anything past its hard bound. */
export function noLeaseOutlivesItsBound<DB = AnyTables>(table: LeaseTable = {}): Invariant<DB> {
  const { lease } = check(table);
  return invariant<DB>('no lease outlives its bound', (world) => {
    for (const row of world.rows(lease)) {
      const expiresMs = Number(row['expires_ms']);
      if (expiresMs > world.nowMs + world.databaseAheadMs + Number(row['ttl_ms']))
        return `${told(row)} lives longer than its ttl_ms`;
      if (row['deadline_ms'] !== null && expiresMs > Number(row['deadline_ms']))
        return `${told(row)} passes its deadline_ms`;
    }
    return true;
  });
}

/** Once the faults are over and everybody ran to the end, no task is held. */
export function eventuallyFree<DB = AnyTables>(table: LeaseTable = {}): Invariant<DB> {
  const { lease } = check(table);
  return invariant<DB>(
    'every task is free in the end',
    (world) => {
      const held = world.rows(lease).filter((row) => Number(row['expires_ms']) > world.nowMs + world.databaseAheadMs);
      return held.length === 0 || held.map(told).join('; ');
    },
    { when: 'healed' },
  );
}

/** The fencing tokens of a task only grow: a later owner has a higher one. */
export function tokensOnlyGrow<DB = AnyTables>(): Invariant<DB> {
  return invariant<DB>('fencing tokens only grow', (world) => {
    const highest = new Map<string, number>();
    for (const fact of world.facts) {
      if (fact['event'] !== 'lease.acquired' || fact['fencingToken'] === null) continue;
      const task = String(fact['taskId']);
      const token = Number(fact['fencingToken']);
      const before = highest.get(task) ?? 0;
      if (token <= before) return `task ${task}: token ${token} was granted after token ${before}`;
      highest.set(task, token);
    }
    return true;
  });
}

const told = (row: Row) => `the lease of task ${String(row['task_id'])} (token ${String(row['fencing_token'])})`;
