import type { Clock, ProcessTable } from 'transition-ownership';

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

/** A look at pids as it must not be: it knows neither zombies nor start marks nor other users. */
export const signalAlone: ProcessTable = {
  sight(pid) {
    try {
      process.kill(pid, 0);
      return { state: 'exists', start: null };
    } catch {
      return { state: 'gone', start: null };
    }
  },
};
