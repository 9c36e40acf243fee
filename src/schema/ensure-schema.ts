import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { unsuitable } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import type { Shape } from '../shape.js';
import { execute } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import {
  createTable,
  dropTable,
  type OwnTable,
  rebuildTable,
  replacementOf,
  retiredFrom,
} from '../sql/schema-statements.js';
import type { Session } from '../sql/session.js';
import { changeSchema } from '../sql/transaction.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { columnsOf } from './columns-of.js';
import { leaseElsewhere } from './lease-elsewhere.js';
import { ownTables } from './own-tables.js';
import { hidden, inTheWay, notOurs } from './refusals.js';

/** What `ensureSchema` did: `upgraded` if a table had an earlier shape, else `created` if one was missing. */
export type SchemaChange = 'created' | 'upgraded' | 'unchanged';

/**
 * Creates the library's tables, or upgrades them in place; your own tables are never altered.
 *
 * May be called at every start, in any number of processes at once. A lease table of the first shape (seven
 * columns, `task_id` its key) is upgraded with its rows, each stamped to expire a TTL from now; writers of
 * that shape must be stopped first, for their inserts fail afterwards. Any other table of that name is left as it is.
 * What a crash broke off, the next call finishes. On MySQL and MariaDB every step of an upgrade commits: there a table
 * with the columns of the library, under the name of its own with `_replacement` or `_retired` behind it, is dropped as
 * what a crash left. Nowhere else is a table of yours touched.
 *
 * The tables are made in the schema of `db` unless `lease.schema` says another. Where that schema has no lease table and
 * the database's own has one, as version 0.1.0 made it, nothing is made: `store-failure` of the kind `unsuitable`, with
 * the finding `lease-elsewhere`, until `lease.schema` is said.
 *
 * Throws `TypeError` on an ownership made by `using(trx)`: on some databases a change of the schema would
 * commit your transaction. Fails with `store-failure`.
 *
 * @example
 * ```ts
 * import { ensureSchema } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const change = await ensureSchema(ownership); // ok('created'), then ok('unchanged')
 * ```
 */
export function ensureSchema<S extends Shape>(
  ownership: TransitionOwnership<S>,
): ResultAsync<SchemaChange, StoreFailure> {
  const context = contextOf(ownership);
  if (context.session.inTransaction) {
    throw new TypeError('ensureSchema needs the ownership itself, not one made by using(trx)');
  }
  return neverReject(context.session, ensureAndLook(context));
}

/** Looks at what is there now; what stands against the library's own tables is a failure. */
async function ensureAndLook(context: Context): Promise<Result<SchemaChange, StoreFailure>> {
  const ensured = await ensureTables(context);
  if (ensured.isErr() || context.settings.survey === 'off' || context.mode() === 'off') return ensured;
  const looked = await context.survey.take(context.session);
  if (looked.isErr()) return err(looked.error);
  context.survey.report(looked.value);
  const against = context.survey.against(['lease', 'effects']);
  return against === undefined ? ensured : err(against);
}

async function ensureTables({ session, settings, dialect }: Context): Promise<Result<SchemaChange, StoreFailure>> {
  const [lease, ...others] = ownTables(settings, dialect);
  const settled = await areSettled(session, [lease, ...others]);
  if (settled.isErr()) return err(settled.error);
  if (settled.value) return ok('unchanged');
  const elsewhere = await leaseElsewhere(session, settings);
  if (elsewhere.isErr()) return err(elsewhere.error);
  if (elsewhere.value !== undefined) return err(unsuitable([elsewhere.value]));
  // By the name that it may share with another of a long name, and under which both would be rebuilt.
  const changed = await changeSchema(session, retiredFrom(lease), async (inside) => {
    let change: SchemaChange = 'unchanged';
    for (const table of [lease, ...others]) {
      const ensured = await ensureTable(inside, table);
      if (ensured.isErr()) return err(ensured.error);
      if (change !== 'upgraded' && ensured.value !== 'unchanged') change = ensured.value;
    }
    return ok(change);
  });
  if (changed.isOk()) return changed;
  // Whoever creates them by other means, as a migration does, may have come first.
  const now = await areComplete(session, [lease, ...others]);
  return now.unwrapOr(false) ? ok('unchanged') : changed;
}

async function ensureTable(session: Session, table: OwnTable): Promise<Result<SchemaChange, StoreFailure>> {
  const { database, dialect } = session;
  const seen = await columnsOf(session, table);
  if (seen.isErr()) return err(seen.error);
  if (isComplete(table, seen.value)) return dropOldOne(session, table);
  const isNew = seen.value.size === 0;
  const lacking = table.always.find((name) => !seen.value.has(name));
  if (!isNew && lacking !== undefined) return err(notOurs(table, lacking));
  if (!isNew) return upgrade(session, table, seen.value);
  const created = await send(session, createTable(database, dialect, table), 'created');
  if (created.isErr()) return created;
  // Where one was there already that this user may not look at, nothing has been created.
  const made = await columnsOf(session, table);
  if (made.isErr()) return err(made.error);
  return isComplete(table, made.value) ? created : err(hidden(table));
}

/** Builds the table anew, unless one that no upgrade left there stands where it would be built. */
async function upgrade(
  session: Session,
  table: OwnTable,
  present: ReadonlySet<string>,
): Promise<Result<SchemaChange, StoreFailure>> {
  const { database, dialect } = session;
  const besides = [
    { named: replacementOf(table), isLeft: (columns: ReadonlySet<string>) => isOurs(table, columns) },
    { named: retiredFrom(table), isLeft: (columns: ReadonlySet<string>) => isOld(table, columns) },
  ];
  // Without a commit before the end nothing is ever left, and the old table needs no second name.
  for (const { named, isLeft } of dialect.schemaCommits ? besides : besides.slice(0, 1)) {
    const found = await columnsOf(session, named);
    if (found.isErr()) return err(found.error);
    if (found.value.size > 0 && !(dialect.schemaCommits && isLeft(found.value))) return err(inTheWay(named));
  }
  return send(session, rebuildTable(database, dialect, table, present), 'upgraded');
}

/** Finishes an upgrade that was broken off when the new table stood in its place already. */
async function dropOldOne(session: Session, table: OwnTable): Promise<Result<SchemaChange, StoreFailure>> {
  const left = await isOldOneLeft(session, table);
  if (left.isErr()) return err(left.error);
  if (!left.value) return ok('unchanged');
  return send(session, [dropTable(session.database, retiredFrom(table))], 'upgraded');
}

async function send(
  session: Session,
  queries: ReturnType<typeof createTable>,
  change: SchemaChange,
): Promise<Result<SchemaChange, StoreFailure>> {
  for (const query of queries) {
    const sent = await execute(session, query, 'once');
    if (sent.isErr()) return err(sent.error);
  }
  return ok(change);
}

/** True if nothing is to be done. */
async function areSettled(
  session: Session,
  tables: readonly [OwnTable, ...OwnTable[]],
): Promise<Result<boolean, StoreFailure>> {
  const complete = await areComplete(session, tables);
  if (complete.isErr() || !complete.value) return complete;
  const left = await isOldOneLeft(session, tables[0]);
  return left.map((is) => !is);
}

async function areComplete(session: Session, tables: readonly OwnTable[]): Promise<Result<boolean, StoreFailure>> {
  for (const table of tables) {
    const seen = await columnsOf(session, table);
    if (seen.isErr()) return err(seen.error);
    if (!isComplete(table, seen.value)) return ok(false);
  }
  return ok(true);
}

/** True if an upgrade left the old table behind; one that never was a table of the library's is no one's leftover. */
async function isOldOneLeft(session: Session, table: OwnTable): Promise<Result<boolean, StoreFailure>> {
  const neverHadAnother = isComplete(table, new Set(table.always));
  if (neverHadAnother || !session.dialect.schemaCommits) return ok(false);
  const seen = await columnsOf(session, retiredFrom(table));
  return seen.map((columns) => isOld(table, columns));
}

/** True of a table of an earlier shape. */
function isOld(table: OwnTable, present: ReadonlySet<string>): boolean {
  return isOurs(table, present) && !isComplete(table, present);
}

function isOurs({ always }: OwnTable, present: ReadonlySet<string>): boolean {
  return always.every((name) => present.has(name));
}

function isComplete({ shape }: OwnTable, present: ReadonlySet<string>): boolean {
  return shape.columns.every(({ name }) => present.has(name));
}
