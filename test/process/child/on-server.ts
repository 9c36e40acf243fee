import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import { createPool, type PoolOptions } from 'mysql2';
import pg from 'pg';
import { acquireLease, createTransitionOwnership, type EffectsOption, ensureSchema } from 'transition-ownership';
import { Gate } from './gate.js';
import { passing } from './passing.js';
import type { GateSetup } from './setup.js';
import { told } from './told.js';

/** The server, how it is reached, and the schema of a test. */
export type ServerAddress = { readonly schema: string } & (
  | { readonly server: 'postgres'; readonly connection: pg.PoolConfig }
  | { readonly server: 'mysql'; readonly connection: PoolOptions }
);

/** A process over a database of a server, which it shares with others. */
export interface OnServerSetup extends GateSetup {
  readonly address: ServerAddress;
  /** Statements that its session begins with. */
  readonly begin?: readonly string[];
  /** Where its lease table is. */
  readonly lease?: { readonly schema?: string; readonly table?: string };
  /** Default: no journal of effects. */
  readonly effects?: EffectsOption;
}

/** A dialect of one session. */
function dialectOf({ address, begin = [] }: OnServerSetup): PostgresDialect | MysqlDialect {
  if (address.server === 'mysql') {
    const pool = createPool({ ...address.connection, connectionLimit: 1 });
    pool.on('connection', (connection) => {
      for (const text of begin) connection.query(text);
    });
    return new MysqlDialect({ pool });
  }
  const pool = new pg.Pool({ ...address.connection, max: 1 });
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    for (const text of begin) void client.query(text);
  });
  return new PostgresDialect({ pool });
}

/** What a test can have it do. */
export function onServer(setup: OnServerSetup) {
  const gate = new Gate(setup);
  const db = new Kysely<{ tasks: { id: number; stage: string } }>({ dialect: passing(dialectOf(setup), gate.pass) });
  const ownership = createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
    ...(setup.lease !== undefined && { lease: setup.lease }),
    ...(setup.effects !== undefined && { effects: setup.effects }),
  });
  return {
    schema: () => told(ensureSchema(ownership)),
    acquire: ({ taskId }: { taskId: number }) => told(acquireLease(ownership, { taskId, actor: 'monitor' })),
    /** How many statements there were. */
    statements: async () => gate.count,
    /** Lets the parked statement go on. */
    proceed: async () => gate.proceed(),
    destroy: () => db.destroy(),
  };
}

/** Its commands by name. */
export type OnServerCommands = ReturnType<typeof onServer>;
