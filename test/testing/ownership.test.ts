import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { createTransitionOwnership, ensureSchema, withTransitionLease } from '../../src/index.js';
import {
  assertHolds,
  eventuallyFree,
  exactlyOneStageWriter,
  explore,
  memoryStore,
  noLeaseOutlivesItsBound,
  noQueuedRunOwnership,
  type Process,
  type Scenario,
  tokensOnlyGrow,
  type World,
} from '../../src/testing/index.js';

interface Tables {
  tasks: { id: number; stage: string | null };
  jobs: { id: number; status: string; run_id: number | null; pid: number | null; started_at: string | null };
  transition_lease: Record<string, unknown>;
}

const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;

const store = memoryStore<Tables>({
  migrate: async (db) => {
    await sql`create table tasks (id integer primary key, stage text)`.execute(db);
    await sql`create table jobs (id integer primary key, status text, run_id integer, pid integer, started_at text)`.execute(
      db,
    );
    const made = await ensureSchema(createTransitionOwnership({ db, tasks }));
    if (made.isErr()) throw new Error(made.error.message);
  },
});

afterAll(() => store.close());

const rules = [
  exactlyOneStageWriter<Tables>(),
  noLeaseOutlivesItsBound<Tables>(),
  tokensOnlyGrow<Tables>(),
  eventuallyFree<Tables>(),
  noQueuedRunOwnership<Tables>(),
];

const seeded = {
  setup: ({ store: { admin } }: World<Tables>) =>
    admin.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute(),
};

const mover = async (process: Process<Tables>) => {
  const ownership = process.createOwnership({ tasks });
  const moved = await withTransitionLease(ownership, { taskId: 1, actor: 'monitor', stage: 'deploy' }, async (held) => {
    await process.work();
    return held.updateStage('done');
  });
  return moved.isOk() ? 'moved' : moved.error.type;
};

const movers = (names: string, faults: NonNullable<Scenario['faults']> = {}): Scenario<Tables> => ({
  ...seeded,
  processes: Object.fromEntries(names.split('').map((name) => [name, mover])),
  faults,
  invariant: rules,
});

describe('Process.createOwnership', () => {
  test('gives the simulated process an ownership of its own identity, claims and time', async () => {
    const main = async (process: Process<Tables>) => {
      const ownership = process.createOwnership({ tasks, lease: { ttlMs: 9_000, renewEveryMs: 3_000 } });
      return withTransitionLease(ownership, { taskId: 1, actor: 'monitor' }, (held) => ({
        identity: ownership.identity,
        claim: held.claim,
        acquiredAfterMs: held.acquiredAtMs - 1_000_000,
        expiresAfterMs: held.expiresAtMs - 1_000_000,
      })).unwrapOr(undefined);
    };
    const results: unknown[] = [];
    await explore(store, {
      ...seeded,
      processes: { A: main },
      finally: (world) => results.push(world.processes[0]?.result),
    });
    expect(results[0]).toEqual({
      identity: { bootId: 'boot-A-1', pid: 101, start: 'start-A-1', host: 'simulated-host' },
      claim: 'claim-A-1-1',
      acquiredAfterMs: 0,
      expiresAfterMs: 9_000,
    });
  });

  test('lets exactly one of three processes move the stage, in every schedule', { timeout: 60_000 }, async () => {
    const moved = new Set<number>();
    const scenario: Scenario<Tables> = {
      ...movers('ABC'),
      finally: (world) => moved.add(world.processes.filter(({ result }) => result === 'moved').length),
    };
    assertHolds(await explore(store, scenario, { reduce: 'both' }));
    expect([...moved]).toEqual([1]);
  });

  test('holds all ready rules through a crash anywhere and a restart', { timeout: 60_000 }, async () => {
    assertHolds(await explore(store, movers('AB', { crashes: 1, restarts: { count: 1, pid: 'same' } })), {
      complete: false,
    });
  });

  test('lets a renewal tick come between any two statements', async () => {
    const traces = new Set<boolean>();
    const main = async (process: Process<Tables>) => {
      const ownership = process.createOwnership({ tasks, lease: { ttlMs: 9_000, renewEveryMs: 3_000 } });
      void (await withTransitionLease(ownership, { taskId: 1, actor: 'monitor' }, async () => {
        await process.work();
        await process.work();
      }));
    };
    const report = await explore(store, {
      ...seeded,
      processes: { A: main },
      faults: { clockJumps: 1, jumpsMs: [3_500] },
      invariant: rules,
      finally: (world) => traces.add(world.trace.some((line) => line.includes('update "transition_lease"'))),
    });
    assertHolds(report);
    expect([...traces].sort()).toEqual([false, true]);
  });
});

describe('the ready rules each notice', () => {
  const violated = async (main: (process: Process<Tables>) => Promise<unknown>, rest: Partial<Scenario<Tables>> = {}) =>
    (await explore(store, { ...movers('A'), processes: { A: mover, B: main }, ...rest })).failure?.violated ?? '';

  test('a stage that is moved behind the owner’s back', async () => {
    const main = ({ db }: Process<Tables>) => db.updateTable('tasks').set({ stage: 'stolen' }).execute();
    expect(await violated(main)).toMatch(
      /^exactly one stage writer: B moved task 1 from deploy to stolen while boot-A-1 held it/,
    );
  });

  test('a lease that is made to last', async () => {
    const main = ({ db }: Process<Tables>) => sql`update transition_lease set expires_ms = expires_ms + 1`.execute(db);
    expect(await violated(main)).toMatch(
      /^no lease outlives its bound: the lease of task 1 \(token 1\) lives longer than its ttl_ms/,
    );
  });

  test('a lease that is never given back', async () => {
    const main = ({ db }: Process<Tables>) =>
      sql`insert into transition_lease (claim, task_id, owner, acquired_ms, expires_ms, ttl_ms) values ('x', 2, 'x', 0, 9e15, 9e15)`.execute(
        db,
      );
    expect(
      await violated(main, {
        processes: { B: main },
        invariant: [eventuallyFree<Tables>()],
        recover: async () => undefined,
        expiries: () => [],
      }),
    ).toMatch(/^every task is free in the end: the lease of task 2/);
  });

  test('a token that is granted again', async () => {
    const main = async ({ db }: Process<Tables>) => {
      await sql`delete from transition_lease`.execute(db);
      await sql`delete from sqlite_sequence`.execute(db);
    };
    expect(await violated(main, { processes: { A: mover, B: main, C: mover } })).toMatch(
      /^fencing tokens only grow: task 1: token 1 was granted after token 1/,
    );
  });

  test('a queued job that still belongs to a run', async () => {
    const main = ({ db }: Process<Tables>) =>
      db.insertInto('jobs').values({ id: 1, status: 'queued', run_id: null, pid: 9, started_at: null }).execute();
    expect(await violated(main)).toBe('a queued job belongs to no run: job 1 is queued and has pid');
  });
});
