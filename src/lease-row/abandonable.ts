import { err, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { follow } from '../holding/followers.js';
import type { Patience } from '../sql/given-up.js';
import { neverReject } from '../sql/never-reject.js';

/** What a verb does about the signal of its request. */
export interface Abandoning<T, E, F> {
  readonly signal: AbortSignal | undefined;
  /** What the caller is told when it fires; `sent` once a write was sent. */
  readonly told: (sent: boolean) => F;
  /** What becomes of an answer that comes after that. */
  readonly late?: (result: Result<T, E | StoreFailure>) => unknown;
  /** True for a verb that goes on in any case: what is to be given back must not stay. */
  readonly goesOn?: boolean;
}

/**
 * Runs a verb that its caller waits for until a signal of theirs fires, however long a statement or a connection hangs.
 *
 * Before a write was sent nothing is sent any more. After it the verb goes on by itself, and is settled when its answer
 * comes.
 */
export function abandonable<T, E, F = StoreFailure>(
  context: Context,
  { signal, told, late, goesOn = false }: Abandoning<T, E, F>,
  work: (context: Context) => Promise<Result<T, E>>,
): Promise<Result<T, E | F | StoreFailure>> {
  if (signal === undefined) return work(context);
  const patience: Patience = { signal: goesOn ? undefined : signal, sent: false };
  if (signal.aborted && !goesOn) return Promise.resolve(err(told(false)));
  return new Promise((resolve) => {
    let isLate = false;
    const abandon = (): void => {
      isLate = true;
      resolve(err(told(patience.sent)));
    };
    const patient: Context = { ...context, session: { ...context.session, patience } };
    const working = neverReject(context.session, work(patient));
    const unfollow = follow(signal, abandon);
    if (signal.aborted) abandon();
    void working.then((result) => {
      unfollow();
      if (isLate) late?.(result);
      else resolve(result);
    });
  });
}

/** The failure of a verb whose caller waits no more. */
export function abandoned({ observer }: Context, signal: AbortSignal | undefined) {
  return (sent: boolean): StoreFailure => {
    const cause = new Error('the signal of the request fired', { cause: signal?.reason });
    const outcome = sent ? 'unknown' : 'not-applied';
    const failure = storeFailure({ kind: 'busy', retryable: true, outcome, cause });
    observer.emit('store.failed', { kind: 'busy', retryable: true, outcome, message: failure.message });
    return failure;
  };
}
