import { assertHolds, explore, type TestStore } from 'transition-ownership/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { scenarios } from './scenarios.js';
import { stores, type Tables } from './yard.js';

describe.each(Object.entries(stores))('every schedule on %s', (name, open) => {
  let store: TestStore<Tables> | undefined;
  let explored = 0;
  afterAll(async () => {
    await store?.close();
    process.stdout.write(`explored ${String(explored)} schedules on ${name}\n`);
  });

  test.each(scenarios.filter(({ onFile }) => name === 'memory' || onFile === true))(
    '$proves',
    { timeout: 120_000 },
    async ({ scenario }) => {
      store ??= open();
      const report = await explore(store, scenario, { maxMs: 110_000, reduce: 'both' });
      explored += report.schedules;
      assertHolds(report);
      expect(report.schedules).toBeGreaterThan(1);
    },
  );
});
