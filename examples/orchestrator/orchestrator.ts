import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { createTransitionOwnership, type Mode, type OwnershipEvent } from 'transition-ownership';
import { type Database, openDatabase } from './database.js';
import { FileOutside, type Outside } from './outside.js';
import { transitions } from './stages.js';

/** What the library is told of the tables. */
export const tables = {
  tasks: { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at', transitions },
  jobs: {
    table: 'jobs',
    id: 'id',
    taskId: 'task_id',
    status: 'status',
    runId: 'run_id',
    pid: 'pid',
    startedAt: 'started_at',
    finishedAt: 'finished_at',
    statuses: { queued: 'queued', running: 'running', failed: 'failed' },
    singleHost: true,
  },
  effects: {},
} as const;

/** What every part of the orchestrator is handed. */
export interface Orchestrator {
  readonly db: Kysely<Database>;
  readonly ownership: ReturnType<typeof own>;
  readonly outside: Outside;
}

/** Opens the orchestrator of a directory. */
export function openOrchestrator(directory: string, onEvent: (event: OwnershipEvent) => void): Orchestrator {
  const db = openDatabase(join(directory, 'orchestrator.sqlite'));
  return { db, ownership: own(db, onEvent), outside: new FileOutside(join(directory, 'effects.log')) };
}

/**
 * From the environment come the kill switch, `OWNERSHIP_MODE` (on, draining or off), its scope, `OWNERSHIP_REPOS`
 * (the repositories that are guarded; empty: all), and the life of a lease, `LEASE_TTL_MS`.
 */
function own(db: Kysely<Database>, onEvent: (event: OwnershipEvent) => void) {
  const repos = (process.env['OWNERSHIP_REPOS'] ?? '').split(',').filter((repo) => repo !== '');
  const ttlMs = Number(process.env['LEASE_TTL_MS'] ?? 30_000);
  return createTransitionOwnership({
    db,
    ...tables,
    lease: { ttlMs, renewEveryMs: ttlMs / 6, maxHoldMs: 600_000 },
    mode: () => (process.env['OWNERSHIP_MODE'] ?? 'on') as Mode,
    scope: ({ context }) => repos.length === 0 || repos.includes(String(context)),
    onEvent,
  });
}
