import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { acquireLease, createTransitionOwnership, ensureSchema, releaseLease } from 'transition-ownership';
import { processIdentity } from '../../../src/system/process-scope.js';
import { say } from '../child/line.js';
import { argument, obey } from '../child/obey.js';
import { told } from '../child/told.js';

/** A process on one of several hosts, over the PostgreSQL that they share. */
export interface HostSetup {
  readonly connection: pg.PoolConfig;
  readonly ttlMs: number;
  /** What the process takes for its host, in place of what the library finds out. */
  readonly host?: string;
}

const { connection, ttlMs, host: alleged } = argument() as HostSetup;
const pool = new pg.Pool({ ...connection, max: 2 });
pool.on('error', () => {});
const db = new Kysely<{ tasks: { id: number; stage: string } }>({ dialect: new PostgresDialect({ pool }) });
const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  lease: { ttlMs, renewEveryMs: ttlMs / 3 },
  ...(alleged !== undefined && { identity: { ...processIdentity(), host: alleged } }),
  onEvent: (event) => say({ event }),
});

const host = {
  identity: async () => ({ ...ownership.identity }),
  schema: () => told(ensureSchema(ownership)),
  acquire: ({ taskId }: { taskId: number }) => told(acquireLease(ownership, { taskId, actor: 'monitor' })),
  /** Takes a task and gives it back, through everything between this host and the database. */
  async tryOut({ taskId }: { taskId: number }) {
    const acquired = await acquireLease(ownership, { taskId, actor: 'monitor' });
    return told(acquired.asyncAndThen((lease) => releaseLease(ownership, lease)));
  },
};

/** What a test can have it do. */
export type HostCommands = typeof host;

await obey(host);
await db.destroy();
