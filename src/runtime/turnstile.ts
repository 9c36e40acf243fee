/**
 * A first-in, first-out queue in front of a database with one connection.
 *
 * Kysely's own mutex for such a database wakes every waiter at each turn, so a thousand waiters cost a
 * million wake-ups. Here one caller at a time goes on to that mutex, which is never bypassed: a statement
 * sent past it would land in a stranger's open transaction.
 */
export class Turnstile {
  #waiting: (() => void)[] = [];
  #next = 0;
  #taken = false;

  /** Runs `work` when all that came before have ended. */
  pass<T>(work: () => Promise<T>): Promise<T> {
    // Thousands may wait here, and the collector carries each of them along: no frame is kept for one that waits.
    if (this.#taken) return new Promise<void>((wake) => this.#waiting.push(wake)).then(() => this.#run(work));
    this.#taken = true;
    return this.#run(work);
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    const wake = this.#waiting[this.#next];
    if (wake === undefined) {
      this.#waiting = [];
      this.#next = 0;
      this.#taken = false;
      return;
    }
    this.#next += 1;
    if (this.#next > 1024 && this.#next * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    wake();
  }
}

const turnstiles = new WeakMap<object, Turnstile>();

/** The turnstile of a database handle: one for all ownership objects over it. */
export function turnstileOf(database: object): Turnstile {
  let turnstile = turnstiles.get(database);
  if (turnstile === undefined) {
    turnstile = new Turnstile();
    turnstiles.set(database, turnstile);
  }
  return turnstile;
}
