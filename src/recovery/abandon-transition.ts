import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { jsonId } from '../core/event.js';
import { alreadyFree, leaseBusy, leaseContended, leaseLocked, tokenMismatch } from '../core/fail.js';
import type { AlreadyFree, LeaseBusy, StoreFailure, TokenMismatch } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { optional, type RulesOf, requestOf, taskId, text, token } from '../core/request.js';
import type { Reclaimed } from '../lease/reclaim-stale-leases.js';
import { seekJudged } from '../lease-row/read-holder.js';
import { reclaim } from '../lease-row/reclaim.js';
import type { Shape } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';

/** An operator's order to give up a transition that was broken off. */
export interface AbandonRequest<S extends Shape> {
  /** The task. */
  readonly taskId: S['taskId'];
  /** The token of the dead owner that the operator saw: an order about another is refused. Default: whichever it is. */
  readonly fencingToken?: number | undefined;
  /** Who orders it. At most 255 bytes. */
  readonly by: string;
  /** Why. At most 255 bytes. */
  readonly reason: string;
}

const check = requestOf({
  taskId,
  fencingToken: optional(token),
  by: text,
  reason: text,
} satisfies RulesOf<AbandonRequest<Shape>>);

/**
 * Gives up a transition whose owner died: its lease is deleted, and no recovery lists it any more. For an operator.
 *
 * The stage of the task stays as it is. Effects that were started and whose end is not known stay listed, each until
 * `resolveEffect` says. Returns the lease that was deleted. Works under every mode, also in a transaction.
 *
 * Fails with `lease-busy` (the owner is not proved dead: `forceReleaseLease` takes the lease even so), `token-mismatch`,
 * `already-free` or `store-failure`.
 *
 * @example
 * ```ts
 * import { abandonTransition } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * await abandonTransition(ownership, { taskId: 1, by: 'ada', reason: 'the branch is gone' });
 * ```
 */
export function abandonTransition<S extends Shape>(
  ownership: TransitionOwnership<S>,
  request: AbandonRequest<NoInfer<S>>,
): ResultAsync<Reclaimed, LeaseBusy | TokenMismatch | AlreadyFree | StoreFailure> {
  const context = contextOf(ownership);
  const order = check(request, context.settings);
  return neverReject(
    context.session,
    suited(context, ['lease'], () => abandon(context, order)),
  );
}

interface Order {
  readonly taskId: IdValue;
  readonly fencingToken: number | undefined;
  readonly by: string;
  readonly reason: string;
}

const MAX_TRIES = 3;

async function abandon(
  context: Context,
  { taskId, fencingToken, by, reason }: Order,
): Promise<Result<Reclaimed, LeaseBusy | TokenMismatch | AlreadyFree | StoreFailure>> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const judged = await seekJudged(context, taskId);
    if (judged.isErr()) return err(judged.error);
    if (judged.value === null) return err(alreadyFree(taskId));
    const { holder, judgement } = judged.value;
    if (fencingToken !== undefined && holder.fencingToken !== fencingToken)
      return err(tokenMismatch(holder, fencingToken));
    if (judgement.verdict !== 'dead') return err(leaseBusy(taskId, holder, judgement));
    const deleted = await reclaim(context, judged.value);
    if (deleted.isErr()) return err(deleted.error);
    if (deleted.value === 'locked') return err(leaseLocked(taskId, holder));
    if (deleted.value === 'kept') continue;
    const facts = { taskId: jsonId(holder.taskId), fencingToken: holder.fencingToken };
    context.observer.emit('operator.acted', { ...facts, action: 'abandon-transition', by, reason });
    return ok(Object.freeze({ ...holder, ...judgement }));
  }
  return err(leaseContended(taskId));
}
