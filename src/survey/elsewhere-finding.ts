import type { Settings } from '../context.js';
import { type Finding, finding } from '../core/finding.js';
import { inspectValue } from '../core/inspect-value.js';
import type { NamedTable } from '../dialect/dialect.js';

/** Where version 0.1.0 kept the leases of a `db` with a schema, unless the options say where they are. */
export function leasesBefore({ leaseFollowsHandle, leaseTable }: Settings): NamedTable | undefined {
  const { schema, table } = leaseTable;
  return leaseFollowsHandle && schema !== undefined ? { schema: undefined, table } : undefined;
}

/** The finding that leases are there, and the schema of `db` has none: two versions would each hold the lease on one task. */
export function elsewhereFinding({ schema, table }: NamedTable): Finding {
  const [own, name] = [inspectValue(schema), inspectValue(table)];
  return finding(
    'lease-elsewhere',
    'error',
    `The schema ${own} of db has no lease table ${name}, and the database's own schema has one, where version 0.1.0 kept the leases of every db. Say lease.schema: that of the present table to go on with it, or ${own} for a new one once no process of 0.1.0 runs.`,
    schema === undefined ? table : `${schema}.${table}`,
  );
}
