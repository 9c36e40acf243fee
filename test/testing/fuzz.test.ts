import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { assertHolds, Failure, fuzz, memoryStore, replay, scheduleArbitrary } from '../../src/testing/index.js';
import * as leases from './leases.js';

const guarded = memoryStore({ migrate: leases.migrateLease({ guarded: true }) });
const unguarded = memoryStore({ migrate: leases.migrateLease({ guarded: false }) });

afterAll(async () => {
  await Promise.all([guarded.close(), unguarded.close()]);
});

const large = leases.workers(leases.rightLease, 'ABCD', {
  crashes: 2,
  restarts: 2,
  clockJumps: 2,
  lostReplies: 1,
  failures: 1,
});

describe('fuzz', () => {
  test.each(['uniform', 'pct'] as const)(
    'finds a broken lease and shrinks it, drawing %s schedules',
    async (strategy) => {
      for (const seed of [1, 2, 3]) {
        const report = await fuzz(unguarded, leases.workers(leases.checkThenAct, 'ABC'), { seed, strategy });
        expect(report.failure?.violated).toContain('a fencing token is granted once');
        expect(report.failure?.trace).toHaveLength(6);
      }
    },
  );

  test('finds nothing in the right lease, with five kinds of fault and four processes', async () => {
    const report = await fuzz(guarded, large, { runs: 400, seed: 11 });
    assertHolds(report, { complete: false });
    expect(report).toMatchObject({ complete: false, schedules: 400 });
    for (const kind of ['crashes', 'restarts', 'clockJumps', 'lostReplies', 'failures'] as const) {
      expect(report.faultsMet[kind]).toBeGreaterThan(0);
    }
  });

  test('draws the same schedules from the same seed', async () => {
    const draw = async () => (await fuzz(guarded, large, { runs: 50, seed: 5 })).steps;
    expect(await draw()).toBe(await draw());
  });

  test('gives a token that replays', async () => {
    const scenario = leases.workers(leases.checkThenAct, 'AB');
    const { failure } = await fuzz(unguarded, scenario, { seed: 1 });
    const again = await replay(unguarded, scenario, failure?.token ?? '');
    expect(again.trace).toEqual(failure?.trace);
  });
});

describe('scheduleArbitrary', () => {
  test('drives a property of your own, and shrinks in it', async () => {
    await guarded.open();
    await unguarded.open();
    const property = fc.asyncProperty(scheduleArbitrary(fc), fc.boolean(), async (picks, broken) => {
      const code = broken ? leases.checkThenAct : leases.rightLease;
      const run = await replay(broken ? unguarded : guarded, leases.workers(code, 'AB'), picks);
      return !(run instanceof Failure);
    });
    const found = await fc.check(property, { seed: 3, numRuns: 500 });
    expect(found.failed).toBe(true);
    expect(found.counterexample?.[1]).toBe(true);
    expect(found.counterexample?.[0].length).toBeLessThanOrEqual(6);
  });
});
