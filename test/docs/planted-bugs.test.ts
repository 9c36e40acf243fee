import { assertHolds, explore, replay } from 'transition-ownership/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { plantedBugs } from '../../examples/planted-bugs/index.js';
import { openStore } from '../../examples/planted-bugs/planted-bug.js';

const store = openStore();
afterAll(() => store.close());

describe.each(plantedBugs)('$name', ({ broken, corrected }) => {
  test('is found, and shrunk to at most eight steps that replay', { timeout: 60_000 }, async () => {
    const { failure, ms } = await explore(store, broken, { maxMs: 10_000 });
    expect(failure?.trace.length).toBeLessThanOrEqual(8);
    expect(ms).toBeLessThan(10_000);
    const again = await replay(store, broken, failure?.token ?? '');
    expect(again).toHaveProperty('violated', failure?.violated);
  });

  test('does not happen in the corrected twin, in any schedule', { timeout: 60_000 }, async () => {
    const report = await explore(store, corrected, { maxMs: 50_000 });
    assertHolds(report);
    expect(report.schedules).toBeGreaterThan(1);
  });
});
