import type { Clock, ScheduledCall } from '../../index.js';

/** A clock that stands still until it is told to move. */
export interface ManualClock extends Clock {
  /**
   * Moves on by `ms`, and calls and wakes what is due by then, in order of time.
   *
   * Awaits nothing: what a call starts goes on by itself once you await.
   */
  readonly advance: (ms: number) => void;
  /** Moves only the wall clock, by `ms`, which may be negative: someone set it. */
  readonly setWall: (ms: number) => void;
  /** How many calls are scheduled. */
  readonly scheduled: number;
}

interface Due {
  readonly atMs: number;
  readonly call: () => void;
}

/**
 * Makes a clock for tests that have one process and no simulator: pass it as the option `clock`.
 *
 * @param startMs - The wall clock at the beginning, in milliseconds. Default: 1,000,000.
 * @example
 * ```ts
 * import { createTransitionOwnership } from 'transition-ownership';
 * import { manualClock } from 'transition-ownership/testing';
 * import { db } from './setup.js';
 *
 * const clock = manualClock();
 * createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' }, clock });
 * clock.advance(10_000);
 * ```
 */
export function manualClock(startMs = 1_000_000): ManualClock {
  let nowMs = 0;
  let wallOffsetMs = startMs;
  let due: Due[] = [];
  const schedule = (ms: number, call: () => void): ScheduledCall => {
    const entry = { atMs: nowMs + ms, call };
    due.push(entry);
    return { cancel: () => void (due = due.filter((other) => other !== entry)) };
  };
  const nextBy = (untilMs: number) => due.filter((entry) => entry.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
  return {
    monotonicMs: () => nowMs,
    wallMs: () => nowMs + wallOffsetMs,
    sleep: (ms) => new Promise<void>((wake) => void schedule(ms, wake)),
    schedule,
    advance(ms) {
      const untilMs = nowMs + ms;
      for (let next = nextBy(untilMs); next !== undefined; next = nextBy(untilMs)) {
        const { atMs, call } = next;
        due = due.filter((entry) => entry.call !== call || entry.atMs !== atMs);
        nowMs = Math.max(nowMs, atMs);
        call();
      }
      nowMs = untilMs;
    },
    setWall(ms) {
      wallOffsetMs += ms;
    },
    get scheduled() {
      return due.length;
    },
  };
}
