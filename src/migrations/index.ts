/**
 * The library’s tables as migrations for Kysely’s `Migrator`.
 *
 * @module transition-ownership/migrations
 */
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { IdType } from '../core/id.js';
import { by, idType, optional, type RulesOf, requestOf } from '../core/request.js';
import { resolveDialect } from '../dialect/infer.js';
import type { TableShape } from '../dialect/table-shape.js';
import { schemaOf } from '../sql/callers-table.js';
import { createTable } from '../sql/schema-statements.js';
import { checkOwnName, effectTable as effectShape, leaseTable as leaseShape, tableName } from '../sql/tables.js';

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
  /** Default: that of the handle where it has one by `withSchema`, else the database's own. */
  readonly schema?: string;
  /** Default `'integer'`. */
  readonly taskIdType?: IdType;
  /** Default `'integer'`. */
  readonly runIdType?: IdType;
}

const ownName = by(checkOwnName);

const checkLease = requestOf(
  {
    table: optional(ownName, 'transition_lease'),
    schema: optional(ownName),
    taskIdType: optional(idType, 'integer'),
    runIdType: optional(idType, 'integer'),
  } satisfies RulesOf<LeaseMigrationOptions>,
  'options',
);

/**
 * The migration that creates the lease table, for those who run `ensureSchema` through Kysely's `Migrator`.
 *
 * The dialect is inferred from the handle. Give it a name of your own in your record of migrations.
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
  const { table, schema, taskIdType, runIdType } = checkLease(options);
  return tableMigration(schema, table, leaseShape(column(taskIdType), column(runIdType)));
}

/** Where the journal of effects goes; the same values as in the options `effects` and `lease` of your ownership. */
export interface EffectMigrationOptions {
  /** Default `transition_effect`. */
  readonly table?: string;
  /** Default: that of the handle where it has one by `withSchema`, else the database's own. */
  readonly schema?: string;
  /** As in the option `lease`. Default `'integer'`. */
  readonly taskIdType?: IdType;
}

const checkEffects = requestOf(
  {
    table: optional(ownName, 'transition_effect'),
    schema: optional(ownName),
    taskIdType: optional(idType, 'integer'),
  } satisfies RulesOf<EffectMigrationOptions>,
  'options',
);

/**
 * The migration that creates the journal of effects, for those whose ownership has the option `effects`.
 *
 * @example
 * ```ts
 * import { createEffectTable } from 'transition-ownership/migrations';
 * import { db } from './setup.js';
 *
 * const migration = createEffectTable({ table: 'deploy_effect' });
 * await migration.up(db);
 * await migration.down(db);
 * ```
 */
export function createEffectTable(options: EffectMigrationOptions = {}): OwnershipMigration {
  const { table, schema, taskIdType } = checkEffects(options);
  return tableMigration(schema, table, effectShape(column(taskIdType)));
}

/** Creates the lease table of an ownership that has no option `lease`, or only times in it. */
export const leaseTable: OwnershipMigration = createLeaseTable();

/** Creates the journal of effects of an ownership that has the option `effects: {}` and no option `lease`, or only times in it. */
export const effectTable: OwnershipMigration = createEffectTable();

function column(type: IdType): 'text' | 'integer' {
  return type === 'text' ? 'text' : 'integer';
}

function tableMigration(schema: string | undefined, table: string, shape: TableShape): OwnershipMigration {
  return Object.freeze<OwnershipMigration>({
    up: async (db) => {
      const database = db.withoutPlugins();
      const own = { schema: schema ?? schemaOf(db, table), table, shape, always: [], backfill: {} };
      for (const query of createTable(database, resolveDialect(undefined, database), own)) await run(database, query);
    },
    down: async (db) => {
      const database = db.withoutPlugins();
      await run(
        database,
        sql`drop table if exists ${tableName(schema ?? schemaOf(db, table), table)}`.compile(database),
      );
    },
  });
}

async function run<DB>(database: Kysely<DB>, query: CompiledQuery): Promise<void> {
  await database.executeQuery(query);
}
