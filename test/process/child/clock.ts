import type { Clock } from 'transition-ownership';

/** A clock as it must not be: its timers keep the process alive. */
export const referencedClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (ms) => new Promise((wake) => setTimeout(wake, ms)),
  schedule(ms, call) {
    const timer = setTimeout(call, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};
