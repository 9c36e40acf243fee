import { Kysely } from 'kysely';
import { createTransitionOwnership, heartbeatOnly, singleProcess } from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import { processIdentity } from '../../../src/runtime/process-scope.js';
import { referencedClock } from './clock.js';
import { Gate } from './gate.js';
import { say } from './line.js';
import { passing } from './passing.js';
import type { Setup } from './setup.js';

/** The database of the small orchestrator that the children run. */
export interface Tables {
  /** `count` counts transitions: read, added to and written back under the lease. */
  tasks: { id: number; stage: string; count: number; note: string | null };
}

/** Who is alive, by the name that a test gives it. */
export const livenesses = { 'heartbeat-only': heartbeatOnly, 'single-process': singleProcess };

/** Opens the file as a process of an orchestrator does; every event is told to the test. */
export function orchestrator(setup: Setup) {
  const { file, ttlMs = 30_000, renewEveryMs = ttlMs / 3, busyTimeoutMs = 100, synchronous = 'full' } = setup;
  const gate = new Gate(setup);
  const db = new Kysely<Tables>({ dialect: passing(openSqlite(file, { busyTimeoutMs, synchronous }), gate.pass) });
  const ownership = createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
    lease: { ttlMs, renewEveryMs },
    ...(setup.liveness !== undefined && { liveness: livenesses[setup.liveness]() }),
    mode: setup.mode ?? 'on',
    ...(setup.clock !== undefined && { clock: referencedClock }),
    ...(setup.host !== undefined && { identity: { ...processIdentity(), host: setup.host } }),
    onEvent: (event) => say({ event }),
  });
  return { db, ownership, gate };
}
