import { contextOf } from '../context.js';
import type { Lease } from '../core/lease.js';
import { secretOf } from '../holding/lease-handle.js';
import type { Shape } from '../shape.js';
import { type Condition, ownedByClaim } from '../sql/owned-by.js';
import type { TransitionOwnership } from '../transition-ownership.js';

/**
 * A condition for your own statements: true while the row of this lease is there, locked until your commit.
 *
 * Any table's write is fenced by it, in the same statement that writes. An unguarded lease has no row: the
 * condition is then true. Plugins of your Kysely do not reach its names.
 *
 * @example
 * ```ts
 * import { acquireLease, ownedBy, toError } from 'transition-ownership';
 * import { db, ownership } from './setup.js';
 *
 * const acquired = await acquireLease(ownership, { taskId: 1, actor: 'finalizer' });
 * if (acquired.isErr()) throw toError(acquired.error);
 * const lease = acquired.value;
 * await db
 *   .updateTable('tasks')
 *   .set({ updated_at: null })
 *   .where('id', '=', 1)
 *   .where(ownedBy(ownership, lease))
 *   .execute();
 * ```
 */
export function ownedBy<S extends Shape>(
  ownership: TransitionOwnership<S>,
  lease: Lease<NoInfer<S>['taskId']>,
): Condition {
  const context = contextOf(ownership);
  const { guarded } = secretOf(lease, context.root);
  return ownedByClaim(
    context.session.database,
    context.dialect,
    context.settings.leaseTable,
    guarded ? lease : undefined,
  );
}
