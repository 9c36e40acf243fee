import type { Clock } from '../port/clock.js';

/** What is returned in place of work that did not end in time. */
export const TOO_LATE = Symbol('too late');

/** The end of the caller's work, or {@link TOO_LATE}; the work itself goes on, and no one listens to it any more. */
export function withTimeout<T>(clock: Clock, ms: number, work: T | PromiseLike<T>): Promise<T | typeof TOO_LATE> {
  return new Promise((resolve, reject) => {
    const timer = clock.schedule(ms, () => resolve(TOO_LATE));
    Promise.resolve(work)
      .finally(() => timer.cancel())
      .then(resolve, reject);
  });
}
