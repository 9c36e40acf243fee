import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { IdType } from '../core/id.js';
import { resolveDialect } from '../dialect/infer.js';
import { createTable } from '../sql/schema-statements.js';
import { checkOwnName, leaseTable, tableName } from '../sql/tables.js';

/** A migration as Kysely's `Migrator` takes it. */
export interface OwnershipMigration {
  /** Creates the table unless it exists. */
  up<DB>(db: Kysely<DB>): Promise<void>;
  /** Drops the table. */
  down<DB>(db: Kysely<DB>): Promise<void>;
}

/** Where the lease table goes; the same values as in the option `lease` of your ownership. */
export interface LeaseMigrationOptions {
  /** Default `transition_lease`. */
  readonly table?: string;
  /** Default: the database's own. */
  readonly schema?: string;
  /** Default `'integer'`. */
  readonly taskIdType?: IdType;
  /** Default `'integer'`. */
  readonly runIdType?: IdType;
}

/**
 * The migration that creates the lease table, for those who run `ensureSchema` through Kysely's `Migrator`.
 *
 * The dialect is told by the handle. Give it a name of your own in your record of migrations.
 *
 * @example
 * ```ts
 * import { createLeaseTable } from 'transition-ownership/migrations';
 * import { db } from './setup.js';
 *
 * const migration = createLeaseTable({ table: 'deploy_lease' });
 * await migration.up(db);
 * await migration.down(db);
 * ```
 */
export function createLeaseTable(options: LeaseMigrationOptions = {}): OwnershipMigration {
  const { table = 'transition_lease', schema, taskIdType = 'integer', runIdType = 'integer' } = options;
  checkOwnName('table', table);
  if (schema !== undefined) checkOwnName('schema', schema);
  const column = (type: IdType): 'text' | 'integer' => (type === 'text' ? 'text' : 'integer');
  const shape = leaseTable(column(taskIdType), column(runIdType));
  return Object.freeze<OwnershipMigration>({
    up: async (db) => {
      const database = db.withoutPlugins();
      const own = { schema, table, shape, backfill: {} };
      for (const query of createTable(database, resolveDialect(undefined, database), own)) await run(database, query);
    },
    down: async (db) => {
      const database = db.withoutPlugins();
      await run(database, sql`drop table if exists ${tableName(schema, table)}`.compile(database));
    },
  });
}

async function run<DB>(database: Kysely<DB>, query: CompiledQuery): Promise<void> {
  await database.executeQuery(query);
}
