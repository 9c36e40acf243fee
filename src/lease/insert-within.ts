import { err, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { type Anchor, anchorNow } from '../holding/anchor.js';
import { follow } from '../holding/followers.js';
import type { ScheduledCall } from '../port/clock.js';
import { execute, type LateQuery, type Reply } from '../sql/execute.js';

/** What an INSERT answered, and an instant before it was sent. */
export interface Inserted {
  readonly answer: Result<Reply, StoreFailure>;
  readonly anchor: Anchor;
  /** True if nobody waits for it any more: what it wrote is given back when it comes. */
  readonly givenUp: boolean;
}

/** An INSERT, what takes away what it writes, and what else ends the wait for it. */
export interface Inserting {
  readonly query: LateQuery;
  readonly giveBack: () => Promise<unknown>;
  readonly signal: AbortSignal | undefined;
}

/** A reply that counts no row has written none; one that was lost, or counts what it meets, may have. */
function mayHaveWritten(reply: Result<Reply, StoreFailure>): boolean {
  return reply.isErr() ? reply.error.outcome === 'unknown' : reply.value.count !== 0n || reply.value.repeated;
}

interface Acquiring {
  readonly pending: { readonly claim: string };
  readonly key: IdValue;
}

const HELD_UP = Object.freeze({
  kind: 'busy',
  retryable: true,
  outcome: 'unknown',
  cause: new Error('an open transaction has a row of this task that is not committed, and is not waited for longer'),
} as const);

/**
 * Sends the INSERT of an acquisition, which waits for whoever has written a row of its task and not yet committed: for
 * at most `busyWaitMs` from when it was sent, or until the signal of the request. `giveBack` takes away what it writes
 * after that.
 *
 * The wait for a connection spends nothing of the lease: the row is not there before.
 */
export function insertWithin(
  { session, dialect, ports: { clock } }: Context,
  { query, giveBack, signal }: Inserting,
): Promise<Inserted> {
  let anchor = anchorNow(clock);
  if (dialect.oneConnection) {
    const sent: LateQuery = () => {
      anchor = anchorNow(clock);
      return query();
    };
    return execute(session, sent).then((answer) => ({ answer, anchor, givenUp: false }));
  }
  return new Promise((resolve, reject) => {
    let alarm: ScheduledCall | undefined;
    let givenUp = false;
    const leave = (): void => {
      alarm?.cancel();
      unfollow?.();
    };
    const giveUp = (): void => {
      if (alarm === undefined) return;
      givenUp = true;
      leave();
      const failure = storeFailure(HELD_UP);
      const { kind, retryable, outcome, message } = failure;
      if (!signal?.aborted) session.observer.emit('store.failed', { kind, retryable, outcome, message });
      resolve({ answer: err(failure), anchor, givenUp });
      // On the connection of a transaction it comes right behind the INSERT, and before whatever is next there.
      if (session.inTransaction) void giveBack();
    };
    const sent: LateQuery = () => {
      if (givenUp) return undefined;
      anchor = anchorNow(clock);
      alarm ??= clock.schedule(session.busyWaitMs, giveUp);
      const insert = query();
      const bounded = insert && dialect.boundWait?.(insert.sql, session.busyWaitMs, session.inTransaction);
      return insert && bounded !== undefined ? { ...insert, sql: bounded } : insert;
    };
    const unfollow = signal && follow(signal, giveUp);
    execute(session, sent).then((answer) => {
      leave();
      resolve({ answer, anchor, givenUp });
      if (givenUp && !session.inTransaction && mayHaveWritten(answer)) void giveBack();
    }, reject);
  });
}

/** Takes back what came after nobody waited for it any more; what fails is left to expire. */
export function giveBackLate(context: Context, { pending: { claim }, key }: Acquiring): Promise<unknown> {
  const { leases, session, dialect } = context;
  return execute(session, dialect.returning ? leases.discard({ claim }) : leases.takeAway({ taskId: key, claim }));
}
