import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { checkId } from '../core/id.js';
import { inspectValue } from '../core/inspect-value.js';
import { by, type RulesOf, requestOf } from '../core/request.js';
import type { Shape } from '../shape.js';
import { execute, transact } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import { readInteger } from '../sql/rows.js';
import { insertToken, moveIdentity, nobodysTask } from '../sql/token-statements.js';
import type { TransitionOwnership } from '../transition-ownership.js';

/** How far the fencing tokens are to be moved on. */
export interface AdvanceRequest {
  /**
   * The greatest token that an outside system may have seen, from 0 to 2^52: every later one is greater. 0 moves them
   * beyond the rows of the lease table alone.
   */
  readonly beyond: number;
}

/** Half of what a number holds exactly: the other half is left for tokens. */
const MAX = 2 ** 52;

const number = by((name, value): asserts value is number => {
  checkId(name, 'integer', value);
  if (Number(value) < 0 || Number(value) > MAX) {
    throw new RangeError(`${name} must be from 0 to ${MAX}, got ${inspectValue(value)}`);
  }
});

const check = requestOf({ beyond: number } satisfies RulesOf<AdvanceRequest>);

/**
 * Moves the fencing tokens on, so that every later one is greater than a number; never back.
 *
 * For an operator. A token is given once within one history of the database: a restored backup, a failover that lost
 * commits, a logical copy or a TRUNCATE that restarts the identity begins another, in which tokens come again. Before
 * work goes on there, say the greatest token that an outside system may remember. Claims are never given again, so
 * fences within the database need none of this. May be run at any time, and again.
 *
 * Returns the number that every later token is greater than. On PostgreSQL it needs the right to update the sequence;
 * elsewhere it inserts a row for no task, and deletes it. Fails with `store-failure`. Throws `TypeError` on an ownership
 * made by `using(trx)`. Works under every mode.
 *
 * @example
 * ```ts
 * import { advanceFencingToken } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const moved = await advanceFencingToken(ownership, { beyond: 4_711 }); // ok(4711), or more
 * ```
 */
export function advanceFencingToken<S extends Shape>(
  ownership: TransitionOwnership<S>,
  request: AdvanceRequest,
): ResultAsync<number, StoreFailure> {
  const context = contextOf(ownership);
  if (context.session.inTransaction) {
    throw new TypeError('advanceFencingToken needs the ownership itself, not one made by using(trx)');
  }
  return neverReject(context.session, advance(context, check(request)));
}

async function advance(context: Context, { beyond }: AdvanceRequest): Promise<Result<number, StoreFailure>> {
  const { session, settings } = context;
  const move = moveIdentity(session, settings.leaseTable, beyond);
  if (move === undefined) return beyond === 0 ? ok(beyond) : passThrough(context, beyond);
  const moved = await execute(session, move);
  if (moved.isErr()) return err(moved.error);
  const [row] = moved.value.rows;
  if (row === undefined) return ok(beyond);
  const last = readInteger(row['moved']);
  return last === null ? err(storeFailure(NO_IDENTITY)) : ok(last);
}

const NO_IDENTITY = Object.freeze({
  kind: 'schema',
  retryable: false,
  outcome: 'not-applied',
  cause: 'fencing_token has no sequence of its own',
} as const);

/** A row with the number goes in and out again: the database counts on from there. */
function passThrough(context: Context, beyond: number): Promise<Result<number, StoreFailure>> {
  const { leaseTable, taskIdType } = context.settings;
  const claim = context.ports.randomness.claim();
  const taskId = nobodysTask(taskIdType, claim);
  return transact(context.session, async (inside) => {
    const inserted = await execute(inside, insertToken(inside, leaseTable, { beyond, claim, taskId }), 'once');
    if (inserted.isErr()) return err(inserted.error);
    const deleted = await execute(inside, context.leases.release({ taskId, claim }), 'once');
    return deleted.map(() => beyond);
  });
}
