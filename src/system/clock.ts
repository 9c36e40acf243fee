import type { Clock, ScheduledCall } from '../port/clock.js';

/** The longest delay of a native timer: a longer one fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The process's own clocks and timers. */
export const systemClock: Clock = Object.freeze({
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (ms: number) => new Promise<void>((wake) => setTimeout(wake, ms)),
  schedule: (ms: number, call: () => void, { keepAlive = false } = {}): ScheduledCall => {
    let timer: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, LONGEST_TIMER_MS);
      timer = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : call()), stepMs);
      if (!keepAlive) timer.unref();
    };
    arm(ms);
    return { cancel: () => clearTimeout(timer) };
  },
  turn: () => new Promise<void>((turned) => setImmediate(turned)),
});
