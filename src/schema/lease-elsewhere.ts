import { ok, type Result } from 'neverthrow';
import type { Settings } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { Finding } from '../core/finding.js';
import type { Session } from '../sql/session.js';
import { LEASE_ALWAYS } from '../sql/tables.js';
import { elsewhereFinding, leasesBefore } from '../survey/elsewhere-finding.js';
import { columnsOf } from './columns-of.js';

/** The finding that leases are where version 0.1.0 kept them, before a table is made beside; `undefined` where there are none. */
export async function leaseElsewhere(
  session: Session,
  settings: Settings,
): Promise<Result<Finding | undefined, StoreFailure>> {
  const before = leasesBefore(settings);
  if (before === undefined) return ok(undefined);
  const here = await columnsOf(session, settings.leaseTable);
  if (here.isErr() || here.value.size > 0) return here.map(() => undefined);
  const elsewhere = await columnsOf(session, before);
  return elsewhere.map((columns) =>
    LEASE_ALWAYS.every((name) => columns.has(name)) ? elsewhereFinding(settings.leaseTable) : undefined,
  );
}
