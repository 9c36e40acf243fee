import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { Kysely } from 'kysely';
import { createTransitionOwnership, heartbeatOnly, type Lease, singleProcess } from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import { processIdentity } from '../../../src/system/process-scope.js';
import { Gate } from './gate.js';
import { say } from './line.js';
import { passing } from './passing.js';
import type { Setup } from './setup.js';
import { referencedClock, signalAlone } from './wrong-ports.js';

/** The database of the small orchestrator that the children run. */
export interface Tables {
  /** `count` counts transitions: read, added to and written back under the lease. */
  tasks: { id: number; stage: string; count: number; note: string | null };
  jobs: {
    id: number;
    task_id: number | null;
    status: string;
    run_id: number | null;
    pid: number | null;
    started_at: string | null;
  };
}

/** Who is alive, by the name that a test gives it. */
export const livenesses = { 'heartbeat-only': heartbeatOnly, 'single-process': singleProcess };

/** One process of the orchestrator, over the file that it shares with others; every event is told to the test. */
export type Orchestrator = ReturnType<typeof orchestrator>;

export function orchestrator(setup: Setup) {
  const { file, ttlMs = 30_000, renewEveryMs = ttlMs / 3, busyTimeoutMs = 100, synchronous = 'full' } = setup;
  const gate = new Gate(setup);
  const db = new Kysely<Tables>({ dialect: passing(openSqlite(file, { busyTimeoutMs, synchronous }), gate.pass) });
  const ownership = createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
    jobs: {
      table: 'jobs',
      id: 'id',
      taskId: 'task_id',
      status: 'status',
      runId: 'run_id',
      pid: 'pid',
      startedAt: 'started_at',
      statuses: { queued: 'queued', running: 'running', failed: 'failed' },
      singleHost: true,
    },
    ...(setup.journal === true && { effects: {} }),
    lease: { ttlMs, renewEveryMs },
    ...(setup.liveness !== undefined && { liveness: livenesses[setup.liveness]() }),
    ...(setup.clock !== undefined && { clock: referencedClock }),
    ...(setup.identity !== undefined && { identity: { ...processIdentity(), ...setup.identity } }),
    ...(setup.processes !== undefined && { processes: signalAlone }),
    mode: setup.mode ?? 'on',
    onEvent: (event) => say({ event }),
  });
  const leases = new Map<number, Lease<number, string, number>>();
  return {
    db,
    ownership,
    gate,
    leases,
    outside: outsideOf(file),
    leaseOf: (taskId: number): Lease<number, string, number> => {
      const lease = leases.get(taskId);
      if (lease === undefined) throw new Error(`no lease on task ${taskId}`);
      return lease;
    },
  };
}

/** The outside world: a file that every process appends to, one line for each time that the step was really taken. */
function outsideOf(file: string) {
  const path = `${file}.effects`;
  const has = (taskId: number): boolean => existsSync(path) && readFileSync(path, 'utf8').includes(`task ${taskId} `);
  const apply = (taskId: number, token: number | null): void => appendFileSync(path, `task ${taskId} token ${token}\n`);
  return { has, apply };
}
