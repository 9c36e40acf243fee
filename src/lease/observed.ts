import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { storeFailure } from '../core/fail.js';
import type { LeaseBusy, LostRace, NotGranting, StoreFailure, TaskNotFound } from '../core/failure.js';
import type { Lease } from '../core/lease.js';
import { abandonable } from '../lease-row/abandonable.js';
import { release } from './give-back.js';
import { grantUnguarded } from './grant.js';
import type { CheckedRequest } from './lease-request.js';

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
  acquire: (context: Context) => Promise<Result<Lease, Failure>>,
): Promise<Result<Lease, Failure>> {
  const { ports, observer } = context;
  const slow = new AbortController();
  const timer = ports.clock.schedule(OBSERVED_MS, () => slow.abort());
  const acquired = await abandonable(
    context,
    {
      signal: slow.signal,
      told: () => storeFailure({ kind: 'busy', retryable: true, outcome: 'unknown', cause: SLOW }),
      late: (result) => {
        if (result.isOk()) void release(context, result.value);
      },
      goesOn: true,
    },
    acquire,
  );
  timer.cancel();
  if (acquired.isOk()) return acquired;
  const { error } = acquired;
  if (error.type === 'not-granting') return err(error);
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
