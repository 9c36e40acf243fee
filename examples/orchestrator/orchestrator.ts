import { join } from 'node:path';
import { createTransitionOwnership, type Mode, type OwnershipEvent } from 'transition-ownership';
import { openDatabase } from './database.js';
import { Outside } from './outside.js';
import { transitions } from './stages.js';

/** What every part of the orchestrator is handed. */
export type Orchestrator = ReturnType<typeof openOrchestrator>;

/**
 * Opens the orchestrator of a directory. From the environment come the kill switch, `OWNERSHIP_MODE` (on, draining
 * or off), its scope, `OWNERSHIP_REPOS` (the repositories that are guarded; empty: all), and the life of a lease,
 * `LEASE_TTL_MS`.
 */
export function openOrchestrator(directory: string, onEvent: (event: OwnershipEvent) => void) {
  const db = openDatabase(join(directory, 'orchestrator.sqlite'));
  const repos = (process.env['OWNERSHIP_REPOS'] ?? '').split(',').filter((repo) => repo !== '');
  const ttlMs = Number(process.env['LEASE_TTL_MS'] ?? 30_000);
  const ownership = createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at', transitions },
    lease: { ttlMs, renewEveryMs: ttlMs / 6 },
    mode: () => (process.env['OWNERSHIP_MODE'] ?? 'on') as Mode,
    scope: ({ context }) => repos.length === 0 || repos.includes(String(context)),
    onEvent,
  });
  return { db, ownership, outside: new Outside(join(directory, 'effects.log')) };
}
