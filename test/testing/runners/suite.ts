import { handlerSuite, memoryStore, type Runner } from '../../../src/testing/index.js';

/** A small project's own handlers, for each runner to test. */
export function define(runner: Runner): void {
  handlerSuite(runner, {
    store: () => memoryStore(),
    level: { maxSchedules: 40 },
    machine: { initial: 'pack', final: ['sent'], handlers: { pack: async () => 'sent' } },
    faults: { crashes: 1, restarts: 1 },
  });
}
