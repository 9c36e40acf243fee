import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { jsonId } from '../core/event.js';
import { alreadyFree, leaseContended, nameHolder, storeFailure, tokenMismatch } from '../core/fail.js';
import type { AlreadyFree, StoreFailure, TokenMismatch } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import { checkId, type IdValue } from '../core/id.js';
import { invariant } from '../core/invariant.js';
import { by, type RulesOf, requestOf, taskId, text } from '../core/request.js';
import { readJudged, seekJudged } from '../lease-row/read-holder.js';
import type { Shape } from '../shape.js';
import { changed, execute } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';

/** An operator's order to take a lease from its owner. */
export interface ForceReleaseRequest<S extends Shape> {
  /** The task. */
  readonly taskId: S['taskId'];
  /** The token that the operator saw: an order about another acquisition is refused. */
  readonly fencingToken: number;
  /** Who orders it. At most 255 bytes. */
  readonly by: string;
  /** Why. At most 255 bytes. */
  readonly reason: string;
}

const token = by((name, value): asserts value is number => checkId(name, 'integer', value));

const check = requestOf({ taskId, fencingToken: token, by: text, reason: text } satisfies RulesOf<
  ForceReleaseRequest<Shape>
>);

/**
 * Takes a lease from its owner, whoever it is and alive or not: for an operator, by compare-and-swap.
 *
 * The owner may still run: its fenced writes are refused and its signal fires at its next renewal, but an
 * effect that it has already begun goes on. Returns the holder that was removed. Fails with `token-mismatch`
 * (with the present holder), `already-free` or `store-failure`. Works under every mode.
 */
export function forceReleaseLease<S extends Shape>(
  ownership: TransitionOwnership<S>,
  request: ForceReleaseRequest<NoInfer<S>>,
): ResultAsync<Holder, TokenMismatch | AlreadyFree | StoreFailure> {
  const context = contextOf(ownership);
  const order = check(request, context.settings);
  return neverReject(
    context.session,
    suited(context, ['lease'], () => forceRelease(context, order)),
  );
}

/** A row that is there at every look and that no DELETE takes away. */
const MAX_TRIES = 3;

async function forceRelease(
  context: Context,
  { taskId, fencingToken, by, reason }: ForceReleaseRequest<Shape>,
): Promise<Result<Holder, TokenMismatch | AlreadyFree | StoreFailure>> {
  let present: Holder | undefined;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const judged = await judgedOf(context, taskId);
    if (judged.isErr()) return err(judged.error);
    if (judged.value === null) return err(alreadyFree(taskId));
    const { holder } = judged.value;
    present = holder;
    if (holder.fencingToken !== fencingToken) return err(tokenMismatch(holder, fencingToken));
    const deleted = await execute(context.session, context.leases.release(holder));
    if (deleted.isErr()) return err(deleted.error);
    if (!changed(context.session, deleted.value) && !deleted.value.repeated) continue;
    const facts = { taskId: jsonId(taskId), fencingToken };
    context.observer.emit('operator.acted', { ...facts, action: 'force-release', by, reason });
    return ok(holder);
  }
  invariant(present !== undefined, leaseContended(taskId).message);
  const trouble = { kind: 'other', retryable: false, outcome: 'not-applied' } as const;
  const failure = storeFailure({ ...trouble, cause: notDeleted(present) });
  context.observer.emit('store.failed', { ...trouble, message: failure.message });
  return err(failure);
}

function notDeleted(holder: Holder): string {
  return `the lease of ${nameHolder(holder)} is there, and ${MAX_TRIES} DELETEs of it changed nothing: a trigger, rule or policy of the table keeps it`;
}

/** The holder by the very key that an operator saw, also where the task is gone; else by another spelling of its id. */
async function judgedOf(context: Context, taskId: IdValue): ReturnType<typeof seekJudged> {
  const seen = await readJudged(context, taskId);
  return seen.isOk() && seen.value === null && typeof taskId === 'string' ? seekJudged(context, taskId) : seen;
}
