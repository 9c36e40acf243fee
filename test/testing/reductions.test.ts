import { afterAll, describe, expect, test } from 'vitest';
import {
  type Bounds,
  effectAtMostOnce,
  explore,
  type Invariant,
  memoryStore,
  type Process,
  type Scenario,
  sqliteFileStore,
  type TestStore,
} from '../../src/testing/index.js';
import * as leases from './leases.js';

const guarded = memoryStore({ migrate: leases.migrateLease({ guarded: true }) });
const unguarded = memoryStore({ migrate: leases.migrateLease({ guarded: false }) });
const file = sqliteFileStore({ migrate: leases.migrateLease({ guarded: false }) });

afterAll(async () => {
  await Promise.all([guarded.close(), unguarded.close(), file.close()]);
});

type Case = readonly [title: string, store: TestStore<leases.LeaseTables>, scenario: Scenario<leases.LeaseTables>];

/** Writes to the world outside in an order that only it remembers. */
const outsiders = (): Scenario<leases.LeaseTables> => {
  let sent: string[] = [];
  const main = async (process: Process<leases.LeaseTables>) => {
    await process.effect('send', () => sent.push(process.name));
    await process.work();
    return process.effect('look', () => sent.join());
  };
  return {
    processes: { A: main, B: main },
    faults: { crashes: 1 },
    setup: () => {
      sent = [];
    },
    invariant: [effectAtMostOnce('send')],
  };
};

/** Looks each other's pid up. */
const watchers = (): Scenario<leases.LeaseTables> => ({
  processes: {
    A: async ({ ports, work }) => {
      await work();
      return ports.processes.sight(201).state;
    },
    B: async ({ work }) => {
      await work();
    },
  },
  faults: { crashes: 1, restarts: 1 },
});

const one = { count: 1, pid: 'another' } as const;

/** Workers that write once: an unreduced search of longer ones takes minutes. */
const brief = (code: leases.LeaseCode, names: string, faults: NonNullable<Scenario['faults']> = {}) =>
  leases.workers(code, names, faults, leases.worker(code, 't', [[null, 's1']]));

/** Reads and writes with nothing around it. */
const plainWriters = (): Scenario<leases.LeaseTables> => ({
  processes: Object.fromEntries(
    ['A', 'B'].map((name) => [
      name,
      async ({ db }: Process<leases.LeaseTables>) => {
        const rows = await db.selectFrom('stage').selectAll().execute();
        await db
          .insertInto('stage')
          .values({ task: name, stage: 's', fencing_token: 1, version: rows.length })
          .execute();
        return rows.length;
      },
    ]),
  ),
});

/** Both sleep, and the clock may jump between. */
const sleepers = (): Scenario<leases.LeaseTables> => ({
  processes: {
    A: async ({ clock }) => clock.sleep(1_000).then(() => clock.now()),
    B: async ({ clock }) => clock.sleep(1_200).then(() => clock.now()),
  },
  faults: { clockJumps: 1, jumpsMs: [500] },
});

const cases: readonly Case[] = [
  ['two sleepers and a clock jump', guarded, sleepers()],
  ['a crash and a restart', guarded, brief(leases.rightLease, 'AB', { crashes: 1, restarts: one })],
  ['a restart with the same pid or another', guarded, brief(leases.rightLease, 'A', { crashes: 1, restarts: 1 })],
  ['a clock jump', guarded, brief(leases.unfencedWrite, 'AB', { clockJumps: 1, jumpsMs: [leases.ttlMs] })],
  ['lost replies and failures', guarded, brief(leases.rightLease, 'AB', { lostReplies: 1, failures: 1 })],
  ['a lease that is broken', unguarded, brief(leases.checkThenAct, 'AB')],
  ['transactions on a file', file, brief(leases.checkThenActInTransaction, 'AB')],
  ['a world outside', guarded, outsiders()],
  ['pid look-ups', guarded, watchers()],
];

/** All the ways in which a scenario can end, and all the rules that it can break on the way. */
async function outcomesOf([, store, scenario]: Case, reduce: NonNullable<Bounds['reduce']>) {
  const ends = new Set<string>();
  const broken = new Set<string>();
  const rules = (scenario.invariant ?? []) as readonly Invariant<leases.LeaseTables>[];
  const report = await explore(
    store,
    {
      ...scenario,
      mayThrow: () => true,
      invariant: (world) => {
        for (const rule of rules) {
          try {
            rule.check(world);
          } catch (error) {
            broken.add(String(error));
          }
        }
      },
      finally: (world) => {
        const processes = world.processes.map(({ name, incarnation, pid, state, result }) => [
          name,
          incarnation,
          pid,
          state,
          result,
        ]);
        const answers = world.history.map(({ client, output }) => [client, output]);
        ends.add(JSON.stringify([world.snapshot, processes, answers.sort()]));
      },
    },
    { reduce, rerunEvery: 0 },
  );
  return { report, outcomes: { ends: [...ends].sort(), broken: [...broken].sort() } };
}

describe('reductions lose no outcome', () => {
  test.each(cases)('%s ends in the same ways with the state cache, with sleep sets, and with both', async (...each) => {
    const plain = await outcomesOf(each, 'none');
    expect(plain.report.failure?.message).toBeUndefined();
    expect(plain.report.complete).toBe(true);
    expect(plain.outcomes.ends.length).toBeGreaterThan(1);
    for (const reduce of ['cache', 'sleep', 'both'] as const) {
      const reduced = await outcomesOf(each, reduce);
      expect(reduced.report.complete).toBe(true);
      expect(reduced.outcomes).toEqual(plain.outcomes);
      expect(reduced.report.schedules).toBeLessThanOrEqual(plain.report.schedules);
    }
  });

  test('reductions that are told too much lose outcomes: the comparison notices', async () => {
    const plain = await outcomesOf(['', guarded, plainWriters()], 'none');
    const reduced = await outcomesOf(['', guarded, plainWriters()], 'sleep');
    const blind = await outcomesOf(['', guarded, { ...plainWriters(), independent: () => true }], 'sleep');
    expect(reduced.outcomes).toEqual(plain.outcomes);
    expect(blind.outcomes).not.toEqual(plain.outcomes);
  });

  test('a bound on preemptions together with reduction is never called complete', async () => {
    const scenario = leases.workers(leases.rightLease, 'AB');
    const bounded = await explore(guarded, scenario, { preemptions: 1 });
    const both = await explore(guarded, scenario, { preemptions: 1, reduce: 'both' });
    expect(bounded.complete).toBe(true);
    expect(both.complete).toBe(false);
    expect(both.failure).toBeUndefined();
  });
});
