import { assertHolds, explore, type TestStore } from 'transition-ownership/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { rewritingStore } from '../../src/testing/suite/rewriting-store.js';
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

test('without the stage in the statement that acquires, a handler is called for what an owner has left', async () => {
  const found = scenarios.find(({ proves }) => proves.startsWith('an owner that finishes'));
  if (found === undefined) throw new Error('the scenario is gone');
  const blind = rewritingStore(stores.memory(), (text) =>
    text.replace('task."stage" is ? collate binary', '(task."stage" is ? or 1 = 1)'),
  );
  const report = await explore(blind, found.scenario, { maxMs: 60_000, reduce: 'both' });
  await blind.close();
  expect(report.failure?.violated).toContain('a handler meets its task in the stage that it asked for');
});
