import type { Clock } from 'transition-ownership';

interface Timer {
  readonly owner: string;
  readonly dueMs: number;
  readonly call: () => void;
}

/**
 * Time for one database and the processes around it, moved by hand: nothing in a test waits for it.
 *
 * A sleep between two tries of a statement ends at once and is noted; everything else happens in {@link advance}.
 */
export class ManualTime {
  /** What the database answers to "now"; moved along with all else, and alone by a test that sets its clock. */
  databaseMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  /** The pauses between two tries, in their order. */
  readonly slept: number[] = [];
  #monotonicMs = 1_000;
  #wallMs = this.databaseMs;
  #timers: Timer[] = [];

  /** The clock of one process. */
  clock(owner: string): Clock {
    return {
      monotonicMs: () => this.#monotonicMs,
      wallMs: () => this.#wallMs,
      sleep: async (ms) => {
        this.slept.push(ms);
      },
      schedule: (ms, call) => {
        const timer = { owner, dueMs: this.#monotonicMs + ms, call };
        this.#timers.push(timer);
        return { cancel: () => this.#remove(timer) };
      },
    };
  }

  /** How long each timer of a process still has to run, in ms. */
  timers(owner: string): readonly number[] {
    return this.#timers.filter((timer) => timer.owner === owner).map(({ dueMs }) => dueMs - this.#monotonicMs);
  }

  /** Time passes: timers are called when they are due, and what each starts is let come to its end. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#monotonicMs + ms;
    for (;;) {
      const next = this.#timers.reduce<Timer | undefined>(
        (first, timer) => (first === undefined || timer.dueMs < first.dueMs ? timer : first),
        undefined,
      );
      if (next === undefined || next.dueMs > untilMs) break;
      this.freeze(Math.max(0, next.dueMs - this.#monotonicMs));
      this.#remove(next);
      next.call();
      await settled();
    }
    this.freeze(untilMs - this.#monotonicMs);
  }

  /** Time passes and no timer runs: a blocked event loop, or a process stopped by a signal. */
  freeze(ms: number): void {
    this.#monotonicMs += ms;
    this.suspend(ms);
  }

  /** The machine sleeps: its monotonic clock stands still while the world goes on. */
  suspend(ms: number): void {
    this.#wallMs += ms;
    this.databaseMs += ms;
  }

  /** Somebody sets the wall clock of the processes. */
  setWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** A process is no more: its timers with it. */
  forget(owner: string): void {
    this.#timers = this.#timers.filter((timer) => timer.owner !== owner);
  }

  #remove(timer: Timer): void {
    this.#timers = this.#timers.filter((kept) => kept !== timer);
  }
}

/** Everything that can go on without time has gone on: a driver that answers at once has only microtasks to do. */
export function settled(): Promise<void> {
  return new Promise((done) => {
    setImmediate(done);
  });
}
