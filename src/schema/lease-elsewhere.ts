import { ok, type Result } from 'neverthrow';
import type { Settings } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import { type Finding, finding } from '../core/finding.js';
import { inspectValue } from '../core/inspect-value.js';
import type { Session } from '../sql/session.js';
import { LEASE_ALWAYS } from '../sql/tables.js';
import { columnsOf } from './columns-of.js';

/**
 * The finding that leases are where version 0.1.0 kept them, which passed over the schema of `db`, and that the schema
 * of `db` has none: two versions would each hold the lease on one task. `undefined` where nothing is to be said.
 */
export async function leaseElsewhere(
  session: Session,
  { leaseFollowsHandle, leaseTable }: Settings,
): Promise<Result<Finding | undefined, StoreFailure>> {
  const { schema, table } = leaseTable;
  if (!leaseFollowsHandle || schema === undefined) return ok(undefined);
  const here = await columnsOf(session, leaseTable);
  if (here.isErr() || here.value.size > 0) return here.map(() => undefined);
  const elsewhere = await columnsOf(session, { schema: undefined, table });
  return elsewhere.map((columns) =>
    LEASE_ALWAYS.every((name) => columns.has(name)) ? found(schema, table) : undefined,
  );
}

function found(schema: string, table: string): Finding {
  return finding(
    'lease-elsewhere',
    'error',
    `The schema ${inspectValue(schema)} of db has no lease table ${inspectValue(table)}, and the database's own schema has one, where version 0.1.0 kept the leases of every db. Say lease.schema: that of the present table to go on with it, or ${inspectValue(schema)} for a new one once no process of 0.1.0 runs.`,
  );
}
