import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { Trusted } from '../holding/holding.js';
import type { Clock, ScheduledCall } from '../port/clock.js';
import { eventLoopOf } from '../system/event-loop.js';
import { FifoQueue } from './fifo-queue.js';
import { sendFirst } from './send-first.js';
import type { Database } from './statement.js';
import { ConnectionTaken, type LateQuery, leftOf, type Place, type Sent, type Waiting } from './waiting.js';

/** Two statements of one commit. */
export interface Pair {
  readonly query: CompiledQuery;
  readonly whereChanged: CompiledQuery;
}

/**
 * A first-in, first-out queue in front of a database with one connection.
 *
 * Kysely's own mutex for such a database wakes every waiter at each turn, so a thousand waiters cost a
 * million wake-ups. Here one at a time goes on to that mutex, which is never bypassed: a statement
 * sent past it would land in a stranger's open transaction. The queue asks for the connection and then sees who is
 * first: what was given up meanwhile is never sent, and what waits beside it may go with it.
 */
export class ConnectionQueue {
  readonly #waiting = new FifoQueue<Waiting>();
  #serving = false;
  /** Set while the connection was asked for and has not come; since when is read by whoever looks first. */
  #asked: { readonly clock: Clock; sinceMs: number | undefined } | undefined;
  #alarm: ScheduledCall | undefined;
  /** When it calls: 0 while nothing is in the way, and later than anything where no one waits any more. */
  #alarmAtMs = 0;
  #armsSoon = false;

  /** Sends a statement when all that came before have ended. */
  send(place: Place, query: LateQuery, trusted?: Trusted): Promise<QueryResult<unknown> | undefined> {
    return new Promise((resolve, reject) => {
      const sent = resolve as (sent: Sent) => void; // `elsewhere` is said of pairs alone
      this.#enter(place, trusted, { query, whereChanged: undefined, alone: false, resolve: sent }, reject);
    });
  }

  /** Sends a statement, and another in the same commit where that changed a row; `elsewhere` if that cannot be here. */
  sendPair(place: Place, { query, whereChanged }: Pair, trusted?: Trusted): Promise<Sent> {
    return new Promise((resolve, reject) =>
      this.#enter(place, trusted, { query: () => query, whereChanged, alone: false, resolve }, reject),
    );
  }

  /** Runs work on the connection, which it has to itself, when all that came before have ended. */
  hold<T>(place: Place, work: (connection: Database) => Promise<T>, trusted?: Trusted): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = (connection: Database): Promise<void> => work(connection).then(resolve, reject);
      this.#enter(place, trusted, { run }, reject);
    });
  }

  #enter(place: Place, trusted: Trusted | undefined, job: Waiting['job'], reject: Waiting['reject']): void {
    // Nothing is read where no one is in the way: what comes first asks at once.
    const sinceMs = this.#serving ? place.clock.monotonicMs() : Number.NEGATIVE_INFINITY;
    const waiting = { place, trusted, sinceMs, job, reject };
    this.#waiting.push(waiting);
    if (!this.#serving) void this.#serve();
    // Whoever comes later gives up later, but for one with a shorter bound.
    else if (this.#alarmAtMs > 0 && place.clock.monotonicMs() + leftOf(waiting, 0) < this.#alarmAtMs) this.#arm();
  }

  /** Serves until no one waits: never rejects. */
  async #serve(): Promise<void> {
    this.#serving = true;
    for (let first = this.#waiting.first; first !== undefined; first = this.#waiting.first) {
      const loop = eventLoopOf(first.place.clock);
      for (let turn = loop.due(); turn !== undefined; turn = loop.due()) await turn;
      this.#ask(first.place.clock);
      try {
        if ('query' in first.job) await first.place.database.getExecutor().provideConnection(this.#sendFirst);
        else await first.place.database.connection().execute(this.#runFirst);
      } catch (cause) {
        // The connection could not be had; where it could not be given back, the reply is known already.
        if (this.#waiting.first === first) this.#waiting.shift()?.reject(cause);
      }
      this.#granted();
    }
    this.#serving = false;
  }

  readonly #sendFirst = (connection: DatabaseConnection): Promise<void> => {
    this.#granted();
    return sendFirst(connection, this.#waiting);
  };

  readonly #runFirst = async (connection: Database): Promise<void> => {
    this.#granted();
    const job = this.#waiting.first?.job;
    if (job === undefined || 'query' in job) return;
    this.#waiting.shift();
    await job.run(connection);
  };

  #ask(clock: Clock): void {
    this.#asked = { clock, sinceMs: undefined };
    const { turn } = eventLoopOf(clock);
    if (turn === undefined) this.#arm();
    else if (!this.#armsSoon) {
      // A connection that no one has comes within this turn of the event loop: only another is worth a timer.
      this.#armsSoon = true;
      void turn.then(() => {
        this.#armsSoon = false;
        this.#arm();
      });
    }
  }

  #granted(): void {
    this.#asked = undefined;
    this.#silence();
  }

  #silence(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    this.#alarmAtMs = 0;
  }

  /** Sets the alarm for whoever is to give up first, and gives up for those whose time is over. */
  #arm(): void {
    if (this.#asked === undefined) return;
    const { clock } = this.#asked;
    const sinceMs = (this.#asked.sinceMs ??= clock.monotonicMs());
    const nowMs = clock.monotonicMs();
    let leftMs = Number.POSITIVE_INFINITY;
    const isOver = (waiting: Waiting): boolean => {
      const ownMs = leftOf(waiting, nowMs - sinceMs);
      if (ownMs > 0) leftMs = Math.min(leftMs, ownMs);
      return ownMs <= 0;
    };
    for (const waiting of this.#waiting.takeWhere(isOver)) waiting.reject(new ConnectionTaken());
    this.#silence();
    this.#alarmAtMs = nowMs + leftMs;
    if (leftMs === Number.POSITIVE_INFINITY) return;
    this.#alarm = clock.schedule(Math.max(1, Math.ceil(leftMs)), () => this.#arm(), { keepAlive: true });
  }
}

const queues = new WeakMap<object, ConnectionQueue>();

/** The queue in front of a database handle: one for all ownership objects over it. */
export function connectionQueueOf(database: object): ConnectionQueue {
  let queue = queues.get(database);
  if (queue === undefined) {
    queue = new ConnectionQueue();
    queues.set(database, queue);
  }
  return queue;
}
