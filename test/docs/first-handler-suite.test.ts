import { handlerSuite, sqliteFileStore } from 'transition-ownership/testing';
import { afterAll, describe, test } from 'vitest';

/** A fake of the outside: plain data and methods. Every call of a method may die, fail, or lose its answer. */
const cloud = () => ({
  releases: [] as string[],
  deploy(key: string): void {
    if (!this.releases.includes(key)) this.releases.push(key); // the real one takes an idempotency key too
  },
});

handlerSuite(
  { describe, test, afterAll }, // of vitest or jest; of node:test { describe, test, after }
  {
    store: () => sqliteFileStore(),
    outside: () => ({ cloud: cloud() }),
    // A function: what handlers keep in memory is made anew at each start of a process, and dies with it.
    machine: () => ({
      initial: 'deploy-staging',
      final: ['done'],
      handlers: {
        'deploy-staging': async () => 'deploy',
        deploy: async (_process, task, { cloud }) => {
          await cloud.deploy(`deploy-${task}`);
          return 'done';
        },
      },
    }),
    invariant: ({ cloud }) => cloud.releases.length <= 1 || `deployed ${cloud.releases.length} times`,
    eventually: ({ cloud }) => cloud.releases.length === 1,
  },
);
