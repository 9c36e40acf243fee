import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { storeFailure } from '../core/fail.js';
import type { LeaseBusy, LostRace, NotGranting, StoreFailure, TaskNotFound } from '../core/failure.js';
import type { Lease } from '../core/lease.js';
import { abandonable } from '../lease-row/abandonable.js';
import { inSavepoint } from '../sql/savepoint.js';
import { release } from './give-back.js';
import { grantUnguarded } from './grant.js';
import type { CheckedRequest } from './lease-request.js';

type Acquire = (context: Context) => Promise<Result<Lease, Failure>>;

/** How long the store may delay a handler under mode `observe`, in ms. */
const OBSERVED_MS = 250;

type Failure = LeaseBusy | LostRace<string | null> | TaskNotFound | NotGranting | StoreFailure;

const SLOW = new Error('the store took longer than mode observe waits for it');

/**
 * Acquires as under `on`; who would be refused goes on all the same, without a row, and so does everybody when the store
 * is in trouble or slow. What comes late is given back.
 */
export async function acquireObserved(
  context: Context,
  request: CheckedRequest,
  acquire: Acquire,
): Promise<Result<Lease, NotGranting | StoreFailure>> {
  const { observer, session } = context;
  const acquired = await (session.inTransaction ? inside(context, acquire) : inTime(context, acquire));
  if (acquired.isOk()) return ok(acquired.value);
  const { error } = acquired;
  if (error.type === 'not-granting') return err(error);
  // Whoever went on would write outside the transaction that is no more.
  if (error.type === 'store-failure' && error.transactionEnded) return err(error);
  const { taskId, actor, stage = null } = request;
  const holder = error.type === 'lease-busy' ? error.holder : null;
  observer.emit('would-refuse', {
    taskId: jsonId(taskId),
    fencingToken: null,
    actor,
    stage,
    failure: error.type,
    verdict: error.type === 'lease-busy' ? error.verdict : null,
    reason: error.type === 'lease-busy' ? error.reason : error.type === 'store-failure' ? error.message : null,
    holder: holder && { actor: holder.actor, fencingToken: holder.fencingToken },
  });
  return ok(grantUnguarded(context, request, 'observed'));
}

/** What comes later than that is given back. */
async function inTime(context: Context, acquire: Acquire): Promise<Result<Lease, Failure>> {
  const slow = new AbortController();
  const timer = context.ports.clock.schedule(OBSERVED_MS, () => slow.abort());
  const bound = {
    signal: slow.signal,
    told: (): Failure => storeFailure({ kind: 'busy', retryable: true, outcome: 'unknown', cause: SLOW }),
    late: (result: Result<Lease, Failure>): void => {
      if (result.isOk()) void release(context, result.value);
    },
    goesOn: true,
  };
  const acquired = await abandonable<Lease, Failure, Failure>(context, bound, acquire);
  timer.cancel();
  return acquired;
}

/** In a caller's transaction its statements come one after the other, and what fails is taken back alone. */
async function inside(context: Context, acquire: Acquire): Promise<Result<Lease, Failure>> {
  const tried = await inSavepoint(context.session, async () => {
    const acquired = await acquire(context);
    return acquired.isErr() && acquired.error.type === 'store-failure' ? err(acquired.error) : ok(acquired);
  });
  return tried.isErr() ? err(tried.error) : tried.value;
}
