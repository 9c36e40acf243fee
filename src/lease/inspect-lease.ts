import { ok, type Result, ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import { jsonId } from '../core/event.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import { checkId, type IdValue } from '../core/id.js';
import type { Verdict, VerdictReason } from '../core/verdict.js';
import { seekJudged } from '../lease-row/read-holder.js';
import type { Shape } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import { inSavepoint } from '../sql/savepoint.js';
import type { TransitionOwnership } from '../transition-ownership.js';

/** Who holds a task's transition, on what evidence. */
export type Inspection =
  | { readonly state: 'free' }
  | {
      readonly state: 'held';
      readonly holder: Holder;
      readonly verdict: Verdict;
      readonly reason: VerdictReason;
    };

/** Whether an actor that would advance a task must wait. */
export type Defer =
  | { readonly defer: false }
  | {
      readonly defer: true;
      readonly reason: 'live-owner' | 'unknown-owner' | 'store-failure';
      readonly holder?: Holder;
    };

const FREE: Inspection = Object.freeze({ state: 'free' });
const GO: Defer = Object.freeze({ defer: false });

/**
 * Reads who holds a task's transition and whether they are alive; changes nothing.
 *
 * Goes by the row that is there; under mode `off` the table is not looked at. The scope is not asked: it may
 * decide by the context of a request, and a task that it leaves out has no row.
 *
 * On an ownership made by `using(trx)` it locks nothing and never ends your transaction. On MySQL and MariaDB, but for
 * READ COMMITTED, it looks over another connection, for which it waits up to `busyWaitMs`: leave one to spare in the pool.
 */
export function inspectLease<S extends Shape>(
  ownership: TransitionOwnership<S>,
  taskId: NoInfer<S>['taskId'],
): ResultAsync<Inspection, StoreFailure> {
  const context = contextOf(ownership);
  checkId('taskId', context.settings.taskIdType, taskId);
  return neverReject(context.session, inspect(context, taskId));
}

async function inspect(context: Context, taskId: IdValue): Promise<Result<Inspection, StoreFailure>> {
  if (context.mode() === 'off') return ok(FREE);
  const read = await seek(context, taskId);
  return read.map((judged) =>
    judged === null ? FREE : Object.freeze({ state: 'held', holder: judged.holder, ...judged.judgement }),
  );
}

/** A look that fails ends no transaction of the caller's. */
function seek(context: Context, taskId: IdValue): ReturnType<typeof seekJudged> {
  const { session, dialect } = context;
  const look = () => seekJudged(context, taskId);
  return session.inTransaction && dialect.failuresEndTransactions ? inSavepoint(session, look) : look();
}

/**
 * Tells an actor that would advance a task whether to wait: uncertainty always means wait.
 *
 * Only a free task, or one whose owner is proved dead, may go on. Never fails: a store in trouble is a
 * reason to defer. Like {@link inspectLease} it goes by the row that is there.
 *
 * @example
 * ```ts
 * import { shouldDefer } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const answer = await shouldDefer(ownership, 1);
 * if (answer.isOk() && !answer.value.defer) {
 *   // advance the task
 * }
 * ```
 */
export function shouldDefer<S extends Shape>(
  ownership: TransitionOwnership<S>,
  taskId: NoInfer<S>['taskId'],
): ResultAsync<Defer, never> {
  const context = contextOf(ownership);
  checkId('taskId', context.settings.taskIdType, taskId);
  return new ResultAsync(decide(context, taskId));
}

async function decide(context: Context, taskId: IdValue): Promise<Result<Defer, never>> {
  const inspected = await neverReject(context.session, inspect(context, taskId));
  if (inspected.isErr()) {
    const defer = deferred(context, taskId, { defer: true, reason: 'store-failure' });
    return ok(context.mode() === 'observe' ? GO : defer);
  }
  const { value } = inspected;
  if (value.state === 'free' || value.verdict === 'dead') return ok(GO);
  const reason = value.verdict === 'live' ? 'live-owner' : 'unknown-owner';
  const defer = deferred(context, taskId, { defer: true, reason, holder: value.holder });
  // Who only observes respects no one, and reports it.
  return ok(context.mode() === 'observe' ? GO : defer);
}

function deferred(context: Context, taskId: IdValue, defer: Extract<Defer, { defer: true }>): Defer {
  const { reason } = defer;
  const holder =
    'holder' in defer && defer.holder ? { actor: defer.holder.actor, fencingToken: defer.holder.fencingToken } : null;
  context.observer.emit('action.deferred', { taskId: jsonId(taskId), reason, actor: null, holder });
  return Object.freeze(defer);
}
