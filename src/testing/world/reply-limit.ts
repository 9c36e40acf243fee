import type { Awaitable } from '../store/store.js';

/** Real time within which a database that works has replied. */
export const replyLimitMs = 5_000;

/** The database of a test does not reply: nothing is said of the code under test, and nothing more can be. */
export class NoReply extends Error {
  override readonly name = 'NoReply';

  constructor(what: string) {
    super(`the store does not reply: nothing came of ${what} in ${replyLimitMs} ms. Is its client connected?`);
  }
}

/** What the store promises, or a `NoReply` in its place. */
export function inTime<T>(reply: Awaitable<T>, what: string): Awaitable<T> {
  if (!(reply instanceof Promise)) return reply;
  return new Promise<T>((resolve, reject) => {
    const limit = setTimeout(() => reject(new NoReply(what)), replyLimitMs);
    const clear = () => clearTimeout(limit);
    reply.then(resolve, reject).finally(clear);
  });
}
