import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import mysql from 'mysql2';
import pg from 'pg';
import { createTransitionOwnership, type OwnershipEvent } from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import type { Tables } from './tables.js';

/** How a process reaches the database: a file, or the socket of a private server. */
export type Address =
  | { readonly dialect: 'sqlite'; readonly file: string }
  | { readonly dialect: 'postgres'; readonly folder: string }
  | { readonly dialect: 'mysql'; readonly socket: string };

/** The times of the leases, short, so that a run sees many ends. */
export const TIMES = Object.freeze({ ttlMs: 1_200, renewEveryMs: 400, maxHoldMs: 3_000 });

/** How long a job may run: longer than any hold. */
export const MAX_RUNNING_MS = 6_000;

/** Opens the database. */
export function connect(address: Address): Kysely<Tables> {
  switch (address.dialect) {
    case 'sqlite':
      return new Kysely({ dialect: openSqlite(address.file) });
    case 'postgres': {
      const pool = new pg.Pool({ host: address.folder, user: 'torture', database: 'postgres', max: 3 });
      // What breaks an idle connection, or one between two statements, is an event of the pool or of the client.
      pool.on('error', () => {});
      pool.on('connect', (client) => client.on('error', () => {}));
      return new Kysely({ dialect: new PostgresDialect({ pool }) });
    }
    case 'mysql': {
      const pool = mysql.createPool({
        socketPath: address.socket,
        user: 'root',
        database: 'torture',
        connectionLimit: 3,
      });
      return new Kysely({ dialect: new MysqlDialect({ pool }) });
    }
  }
}

/** The ownership of one process of the orchestrator. */
export function ownershipOf(
  db: Kysely<Tables>,
  { dialect }: Address,
  onEvent: (event: OwnershipEvent) => void = () => {},
) {
  return createTransitionOwnership({
    db,
    dialect,
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
    lease: TIMES,
    effects: {},
    onEvent,
  });
}

/** The ownership, with the types of this orchestrator. */
export type Ownership = ReturnType<typeof ownershipOf>;
