import { afterAll, describe, expect, test } from 'vitest';
import {
  assertHolds,
  checkLinearizable,
  explore,
  exploreDeepening,
  Failure,
  type LeaseInput,
  type LeaseOutput,
  leaseModel,
  memoryStore,
  type Operation,
  type Report,
  replay,
  sqliteFileStore,
} from '../../src/testing/index.js';
import * as leases from './leases.js';

const guarded = memoryStore({ migrate: leases.migrateLease({ guarded: true }) });
const unguarded = memoryStore({ migrate: leases.migrateLease({ guarded: false }) });
const file = sqliteFileStore({ migrate: leases.migrateLease({ guarded: false }) });

afterAll(async () => {
  await Promise.all([guarded.close(), unguarded.close(), file.close()]);
});

const failureOf = ({ failure }: Report): Failure => {
  if (failure === undefined) throw new Error('nothing was found');
  return failure;
};

const planted = [
  ['check-then-act', unguarded, leases.workers(leases.checkThenAct, 'AB'), 'a fencing token is granted once', 6],
  [
    'a racy take-over',
    guarded,
    leases.workers(leases.racyTakeover, 'ABC', { clockJumps: 1 }),
    'a fencing token is granted once',
    11,
  ],
  [
    'an unfenced write',
    guarded,
    leases.workers(leases.unfencedWrite, 'AB', { clockJumps: 1 }),
    'no write of an older token after a newer one',
    12,
  ],
] as const;

describe('explore', () => {
  test.each(planted)('finds %s and shrinks it to the fewest steps', async (_title, store, scenario, rule, steps) => {
    const report = await explore(store, scenario);
    const failure = failureOf(report);
    expect(report.complete).toBe(false);
    expect(failure.violated).toContain(rule);
    expect(failure.trace.length).toBeLessThanOrEqual(steps);
  });

  test.each(planted)(
    'gives a token for %s that replays the same trace, again and again',
    async (_title, store, scenario) => {
      const failure = failureOf(await explore(store, scenario));
      for (let times = 0; times < 3; times++) {
        const again = await replay(store, scenario, failure.token);
        expect(again).toBeInstanceOf(Failure);
        expect(again.trace).toEqual(failure.trace);
      }
    },
  );

  test('runs the right lease to the end with every crash, restart and clock jump', async () => {
    const faults = {
      crashes: 1,
      restarts: { count: 1, pid: 'another' },
      clockJumps: 1,
      jumpsMs: [leases.ttlMs + 1],
    } as const;
    const report = await explore(guarded, {
      ...leases.workers(leases.rightLease, 'AB', faults),
      finally: (world) => {
        const history = world.history as readonly Operation<LeaseInput, LeaseOutput>[];
        expect(checkLinearizable(leaseModel, history).ok).toBe(true);
      },
    });
    assertHolds(report);
    expect(Math.min(report.faultsMet.crashes, report.faultsMet.restarts, report.faultsMet.clockJumps)).toBeGreaterThan(
      0,
    );
    expect(report.states).toBeGreaterThan(1_000);
  });

  test('finds looking and acting in one transaction harmless on SQLite', async () => {
    const scenario = { ...leases.workers(leases.checkThenActInTransaction, 'AB'), mayThrow: () => true };
    assertHolds(await explore(file, scenario));
  });

  test('is not complete when its bounds stop it', async () => {
    const report = await explore(guarded, leases.workers(leases.rightLease, 'ABC'), { maxSchedules: 3 });
    expect(report).toMatchObject({ complete: false, schedules: 3 });
    expect(() => assertHolds(report)).toThrow('not exhausted');
    expect(() => assertHolds(report, { complete: false })).not.toThrow();
  });
});

describe('exploreDeepening', () => {
  test('finds check-then-act with a single preemption', async () => {
    const report = await exploreDeepening(unguarded, leases.workers(leases.checkThenAct, 'AB'), { upTo: 2 });
    expect(failureOf(report).trace).toHaveLength(6);
  });

  test('is complete within its bound', async () => {
    assertHolds(await exploreDeepening(guarded, leases.workers(leases.rightLease, 'AB'), { upTo: 1 }));
  });
});

describe('replay', () => {
  test('answers the trace of a schedule that holds', async () => {
    const scenario = leases.workers(leases.rightLease, 'A');
    const run = await replay(guarded, scenario, []);
    expect(run).not.toBeInstanceOf(Failure);
    expect(run.trace.at(0)).toBe('A.1: start');
    expect(run.trace.at(-1)).toBe('A.1: exit');
  });

  test('refuses a token of another scenario, and what is no token', async () => {
    const { token } = failureOf(await explore(unguarded, leases.workers(leases.checkThenAct, 'AB')));
    await expect(replay(unguarded, leases.workers(leases.checkThenAct, 'ABC'), token)).rejects.toThrow(
      'other processes or faults',
    );
    await expect(replay(unguarded, leases.workers(leases.checkThenAct, 'AB'), 'nonsense')).rejects.toThrow(
      'not a schedule token',
    );
  });
});
