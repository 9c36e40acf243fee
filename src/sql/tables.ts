import { sql } from 'kysely';
import { inspectValue } from '../core/inspect-value.js';
import type { Dialect, Fragment, NamedTable } from '../dialect/dialect.js';
import type { TableShape } from '../dialect/table-shape.js';

/** The lease table: the same columns on every database. */
export function leaseTable(taskId: 'integer' | 'text', runId: 'integer' | 'text'): TableShape {
  return {
    columns: [
      { name: 'fencing_token', type: 'token' },
      { name: 'claim', type: 'text', notNull: true },
      { name: 'task_id', type: taskId, notNull: true },
      { name: 'owner', type: 'text', notNull: true },
      { name: 'owner_pid', type: 'integer' },
      { name: 'owner_boot_id', type: 'text' },
      { name: 'run_id', type: runId },
      { name: 'stage', type: 'text' },
      { name: 'acquired_at', type: 'stamp' },
      { name: 'owner_host', type: 'text' },
      { name: 'owner_start', type: 'text' },
      { name: 'acquired_ms', type: 'integer', notNull: true },
      { name: 'expires_ms', type: 'integer', notNull: true },
      { name: 'ttl_ms', type: 'integer', notNull: true },
      { name: 'deadline_ms', type: 'integer' },
    ],
    unique: [['task_id']],
  };
}

/**
 * The journal of effects. Its rows stay; the second key leads by the state, so that the few unfinished ones
 * are found without reading the others. A claim is never made twice, so that key forbids nothing.
 */
export function effectTable(taskId: 'integer' | 'text'): TableShape {
  return {
    columns: [
      { name: 'task_id', type: taskId, notNull: true },
      { name: 'effect', type: 'text', notNull: true },
      { name: 'key', type: 'text', notNull: true },
      { name: 'claim', type: 'text', notNull: true },
      { name: 'fencing_token', type: 'integer', notNull: true },
      { name: 'owner', type: 'text', notNull: true },
      { name: 'state', type: 'text', notNull: true },
      { name: 'result', type: 'long-text' },
      { name: 'started_ms', type: 'integer', notNull: true },
      { name: 'applied_ms', type: 'integer' },
    ],
    unique: [
      ['task_id', 'effect', 'key'],
      ['state', 'claim'],
    ],
  };
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** Throws for a name for one of the library's own tables that some database would have to quote or cut. */
export function checkOwnName(what: string, name: unknown): asserts name is string {
  if (typeof name !== 'string') throw new TypeError(`${what} must be a string, got ${inspectValue(name)}`);
  if (!NAME.test(name)) {
    throw new RangeError(
      `${what} must be a letter or underscore and at most 62 letters, digits or underscores, got ${JSON.stringify(name)}`,
    );
  }
}

/** A table, in a schema where one is given; every part is quoted. */
export function tableName(schema: string | undefined, table: string): Fragment {
  return schema === undefined ? sql.id(table) : sql.id(schema, table);
}

/** A table for people. */
export function shownTable({ schema, table }: NamedTable): string {
  return schema === undefined ? table : `${schema}.${table}`;
}

/** The columns that a lease table has had in every shape. */
export const LEASE_ALWAYS: readonly string[] = Object.freeze([
  'task_id',
  'owner',
  'owner_pid',
  'owner_boot_id',
  'run_id',
  'stage',
  'acquired_at',
]);

/** What the rows of a lease table of the first shape get in the columns that it lacked. */
export function leaseBackfill(dialect: Dialect, ttlMs: number): Readonly<Record<string, Fragment>> {
  return {
    claim: dialect.randomClaim,
    acquired_ms: dialect.nowMs,
    expires_ms: sql`${dialect.nowMs} + ${sql.lit(ttlMs)}`,
    ttl_ms: sql`${sql.lit(ttlMs)}`,
  };
}
