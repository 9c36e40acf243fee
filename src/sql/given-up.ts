import type { QueryResult } from 'kysely';
import { follow } from '../holding/followers.js';
import type { Clock } from '../port/clock.js';
import { ConnectionTaken, type LateQuery } from './waiting.js';

/** What ends the wait of one verb, or of a part of it, for a connection. */
export interface Patience {
  /** The caller's own signal: once it has fired nothing is sent, unless a write of the verb was sent before. */
  readonly signal?: AbortSignal | undefined;
  /** The longest wait for a connection of a pool, in ms. */
  readonly connectionWaitMs?: number | undefined;
  /** True once a write was handed to the driver: it may be applied, and has to be settled. */
  sent: boolean;
}

/** The signal of the request fired before its statement was sent. */
export class RequestAborted extends ConnectionTaken {
  constructor(signal: AbortSignal) {
    super('the signal of the request fired before its statement could be sent', { cause: signal.reason });
    this.name = 'RequestAborted';
  }
}

/** Before a transaction of the library's own is begun for a verb: it is not, if its caller waits no more. */
export function beginPatiently(patience: Patience | undefined): void {
  if (patience === undefined) return;
  if (patience.signal?.aborted && !patience.sent) throw new RequestAborted(patience.signal);
  patience.sent = true;
}

const NO_CONNECTION = 'no connection came free: who looks from a transaction needs one more than the transactions have';

/** Sends a statement that is taken back where its wait for a connection is over: it is then never sent. */
export function sendPatiently(
  clock: Clock,
  patience: Patience,
  query: LateQuery,
  send: (query: LateQuery) => Promise<QueryResult<unknown> | undefined>,
): Promise<QueryResult<unknown> | undefined> {
  const { signal, connectionWaitMs } = patience;
  return new Promise((resolve, reject) => {
    let waiting = true;
    const leave = (): void => {
      waiting = false;
      unfollow?.();
      timer?.cancel();
    };
    const giveUp = (cause: ConnectionTaken): void => {
      if (waiting) reject(cause);
      leave();
    };
    const unfollow = signal && !patience.sent ? follow(signal, () => giveUp(new RequestAborted(signal))) : undefined;
    const timer =
      connectionWaitMs === undefined
        ? undefined
        : clock.schedule(connectionWaitMs, () => giveUp(new ConnectionTaken(NO_CONNECTION)), { keepAlive: true });
    if (signal?.aborted && !patience.sent) giveUp(new RequestAborted(signal));
    else {
      const wanted: LateQuery = () => {
        if (!waiting) return undefined;
        leave();
        const sent = query();
        if (sent !== undefined && !/^\s*select/i.test(sent.sql)) patience.sent = true;
        return sent;
      };
      void send(wanted).then(resolve, reject).finally(leave);
    }
  });
}
