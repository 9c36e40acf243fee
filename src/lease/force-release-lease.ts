import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { jsonId } from '../core/event.js';
import { alreadyFree, leaseContended, nameHolder, storeFailure, tokenMismatch } from '../core/fail.js';
import type { AlreadyFree, StoreFailure, TokenMismatch } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { IdValue } from '../core/id.js';
import { invariant } from '../core/invariant.js';
import { type RulesOf, requestOf, taskId, text, token } from '../core/request.js';
import { readJudged, seekJudged } from '../lease-row/read-holder.js';
import type { Shape } from '../shape.js';
import { changed, execute, UNHEARD } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import { readText } from '../sql/rows.js';
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

const check = requestOf({ taskId, fencingToken: token, by: text, reason: text } satisfies RulesOf<
  ForceReleaseRequest<Shape>
>);

/**
 * Takes a lease from its owner, whoever it is and alive or not: for an operator, by compare-and-swap.
 *
 * The owner may still run: its fenced writes are refused and its signal fires at its next renewal, but an
 * effect that it has already begun goes on. Returns the holder that was removed. Fails with `token-mismatch`
 * (with the present holder), `already-free` or `store-failure`. Works under every mode.
 *
 * A row that an open transaction has locked is not waited for: `store-failure`, kind `busy`, and its message says which
 * sessions the server knows to be at the table. End the one that is frozen, and ask again.
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
    const deleted = await execute(context.session, context.leases.takeAway(holder));
    if (deleted.isErr()) return err(deleted.error);
    if (!changed(context.session, deleted.value) && !deleted.value.repeated) {
      const locked = await whoLocks(context, holder);
      if (locked.isErr()) return err(locked.error);
      if (locked.value !== undefined) return err(refused(context, { ...LOCKED, cause: new Error(locked.value) }));
      continue;
    }
    context.session.transaction?.written.add(holder.taskId);
    const facts = { taskId: jsonId(taskId), fencingToken };
    context.observer.emit('operator.acted', { ...facts, action: 'force-release', by, reason });
    return ok(holder);
  }
  invariant(present !== undefined, leaseContended(taskId).message);
  return err(refused(context, { ...KEPT, cause: notDeleted(present) }));
}

const KEPT = Object.freeze({ kind: 'other', retryable: false, outcome: 'not-applied' } as const);
const LOCKED = Object.freeze({ kind: 'busy', retryable: true, outcome: 'not-applied' } as const);

function refused({ observer }: Context, trouble: (typeof KEPT | typeof LOCKED) & { readonly cause: unknown }) {
  const failure = storeFailure(trouble);
  const { kind, retryable, outcome, message } = failure;
  observer.emit('store.failed', { kind, retryable, outcome, message });
  return failure;
}

/** Who has the row of a holder locked, as a sentence; `undefined` if nobody has, or it is gone. */
async function whoLocks(context: Context, holder: Holder): Promise<Result<string | undefined, StoreFailure>> {
  const { session, dialect, leases, settings } = context;
  if (dialect.oneConnection) return ok(undefined);
  const free = await execute(session, leases.findUnlocked(holder));
  if (free.isErr()) return err(free.error);
  if (free.value.rows.length > 0) return ok(undefined);
  const read = await readJudged(context, holder.taskId);
  if (read.isErr()) return err(read.error);
  if (read.value?.holder.claim !== holder.claim) return ok(undefined);
  const asked = dialect.lockHolders?.(settings.leaseTable).compile(session.database);
  // A role that may not ask is told of the lock alone.
  const told = asked && (await execute({ ...session, observer: UNHEARD }, asked, 'once')).unwrapOr(undefined);
  const holders = (told?.rows ?? []).map((row) => readText(row['holder']) ?? '').join('; ');
  // A server may tell who has rows locked, and not which.
  const by = holders === '' ? '' : `; these may have it: ${holders}`;
  return ok(`an open transaction has the row of ${nameHolder(holder)} locked, and is not waited for${by}`);
}

function notDeleted(holder: Holder): string {
  return `the lease of ${nameHolder(holder)} is there, and ${MAX_TRIES} DELETEs of it changed nothing: a trigger, rule or policy of the table keeps it`;
}

/** The holder by the very key that an operator saw, also where the task is gone; else by another spelling of its id. */
async function judgedOf(context: Context, taskId: IdValue): ReturnType<typeof seekJudged> {
  const seen = await readJudged(context, taskId);
  return seen.isOk() && seen.value === null && typeof taskId === 'string' ? seekJudged(context, taskId) : seen;
}
