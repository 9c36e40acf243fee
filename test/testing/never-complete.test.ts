import { setTimeout as realTime } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import {
  effectAtMostOnce,
  explore,
  exploreDeepening,
  handlerSuite,
  invariant,
  memoryStore,
  type Process,
  postgresStore,
  type Runner,
  type Scenario,
  type StageMachine,
} from '../../src/testing/index.js';

const migrate = (db: Process['db']) => sql`create table note (text text)`.execute(db);
const store = memoryStore({ migrate });

afterAll(() => store.close());

const alone = (main: (process: Process) => Promise<unknown>, rest: Partial<Scenario> = {}): Scenario => ({
  processes: { A: main },
  ...rest,
});

type Outside = { bank: { charge(): number } };
type Handler = NonNullable<StageMachine<'go' | 'done', Outside, never>['handlers']['go']>;

/** What the first test of a suite with this handler says, at level `full`. */
async function saidOf(go: Handler, rest: { readonly eventually?: () => boolean } = {}): Promise<string> {
  const tests: (() => Promise<void>)[] = [];
  const endings: (() => Promise<void>)[] = [];
  const runner: Runner = {
    describe: (_name, define) => define(),
    test: (_name, run) => void tests.push(run),
    afterAll: (run) => void endings.push(run),
  };
  handlerSuite(runner, {
    store: () => memoryStore({ transactions: 'global-lock' }),
    level: 'full',
    processes: 1,
    faults: {},
    outside: () => ({ bank: { charge: () => 1 } }),
    machine: () => ({ initial: 'go', final: ['done'], handlers: { go: go as never } }),
    ...rest,
  });
  const said = await Promise.all(
    tests.map((run) =>
      run().then(
        () => 'passes',
        (error: unknown) => (error as { violated?: string }).violated ?? String(error),
      ),
    ),
  );
  for (const end of endings) await end();
  return said.join();
}

describe('what a handler awaits', () => {
  test('outside the world is told although its lease is being renewed, with the last point that it passed', async () => {
    const said = await saidOf(() => new Promise(() => undefined), { eventually: () => false });
    expect(said).toMatch(
      /^await outside the world: process A .* The last point that it passed: insert into .*transition_lease.*Wrap it in `effect`/,
    );
  });

  test('outside the world is told also where it comes to an end in real time', async () => {
    const said = await saidOf(async (_process, _task, { bank }) => {
      await realTime(200);
      await bank.charge();
      return 'done';
    });
    expect(said).toMatch(/^await outside the world: process A /);
  });

  test('and what it throws is told by its name', async () => {
    const said = await saidOf(() => Promise.reject(new TypeError('bank.pay is not a function')));
    expect(said).toBe(
      'the task gets to a final stage: it stays at go: the handler threw TypeError: bank.pay is not a function',
    );
  });
});

describe('a bound that was hit', () => {
  const ticking = alone(
    ({ clock }) =>
      new Promise(() => {
        const again = () => void clock.schedule(10, again);
        again();
      }),
    { faults: { timers: 3 } },
  );

  test('on timers is counted, and never complete', async () => {
    const report = await explore(store, ticking);
    expect(report).toMatchObject({ complete: false, cut: 1, schedules: 1 });
    expect(report.failure).toBeUndefined();
    expect(report.warnings.join()).toMatch(/1 schedules were cut off/);
  });

  test('on timers fails what must hold in the end, by the name of who does not end', async () => {
    const { failure } = await explore(store, { ...ticking, eventually: () => true });
    expect(failure?.violated).toMatch(/^process A does not end\. The last point that it passed: timer after 10 ms/);
  });

  test('on steps is counted too', async () => {
    const forever = alone(async ({ work }) => {
      for (;;) await work();
    });
    expect(await explore(store, forever, { maxSteps: 20 })).toMatchObject({ complete: false, cut: 1 });
  });
});

describe('memory belongs to one life of one process', () => {
  /** A flag in memory, taken for a lock. */
  const flagged = () => {
    const shared = { busy: false };
    const worker = (memory: { busy: boolean }) => async (process: Process) => {
      if (memory.busy) return 'busy';
      memory.busy = true;
      await process.effect('deploy', () => undefined);
      return 'deployed';
    };
    return { shared, worker };
  };
  const rest: Partial<Scenario> = {
    faults: { crashes: 1, restarts: 1 },
    invariant: effectAtMostOnce('deploy'),
  };

  test('a flag that processes share is found by one that goes on otherwise than it did', async () => {
    const { shared, worker } = flagged();
    const main = worker(shared);
    const scenario: Scenario = { processes: { A: main, B: main }, ...rest, setup: () => void (shared.busy = false) };
    const { complete, failure } = await explore(store, scenario);
    expect(complete).toBe(false);
    expect(failure?.violated).toMatch(/^state outlives a life: process B .*«effect deploy \[\]».*perStart/);
  });

  test('a flag that outlives a kill is found with one process', async () => {
    const { shared, worker } = flagged();
    const scenario = alone(worker(shared), { ...rest, setup: () => void (shared.busy = false) });
    expect((await explore(store, scenario)).failure?.violated).toMatch(/^state outlives a life: process A /);
  });

  test('made anew at each start it is no lock, and that is found', async () => {
    const { worker } = flagged();
    const { perStart } = await import('../../src/testing/index.js');
    const main = perStart(() => worker({ busy: false }));
    const { failure } = await explore(store, { processes: { A: main, B: main }, ...rest });
    expect(failure?.violated).toBe('effect "deploy" at most once: it took place 2 times');
  });

  test.each([
    './test/testing/children/worker-with-a-flag.ts',
    new URL('./children/worker-with-a-flag.ts', import.meta.url).href,
    new URL('./children/worker-with-a-flag.ts', import.meta.url),
  ])('and so is a variable of a module that is named: %s', async (source) => {
    const { failure } = await explore(store, { processes: { A: source, B: source }, ...rest }, { maxSchedules: 50 });
    expect(failure?.violated).toBe('effect "deploy" at most once: it took place 2 times');
  });

  test('a file without a main function is refused', async () => {
    const scenario: Scenario = { processes: { A: './test/testing/leases.ts' } };
    await expect(explore(store, scenario)).rejects.toThrow(
      /must export its main function as default: .*leases\.ts does not/,
    );
  });
});

describe('time passes while others work', () => {
  const sleeper: Scenario = {
    processes: {
      A: async ({ clock, ghost }) => {
        await clock.sleep(100);
        ghost({ by: 'A' });
      },
      B: async ({ work, ghost }) => {
        await work();
        await work();
        ghost({ by: 'B' });
      },
    },
  };
  const ordersOf = async (reduce: 'none' | 'both', timePasses?: number) => {
    const orders = new Set<string>();
    const note = (world: { readonly facts: readonly { readonly process: string }[] }) => {
      orders.add(world.facts.map((fact) => fact.process).join());
    };
    const faults = timePasses === undefined ? {} : { faults: { timePasses } };
    const report = await explore(store, { ...sleeper, ...faults, finally: note }, { reduce });
    return { report, orders: [...orders].sort() };
  };

  test.each(['none', 'both'] as const)(
    'so a sleeper wakes between two steps of another process: %s',
    async (reduce) => {
      const { report, orders } = await ordersOf(reduce);
      expect(orders).toEqual(['A,B', 'B,A']);
      expect(report).toMatchObject({ complete: true, faultsMet: { timePasses: expect.any(Number) as number } });
      expect(report.faultsMet.timePasses).toBeGreaterThan(0);
    },
  );

  test('and without a budget for it the report says that time was idle, and is not complete', async () => {
    const { report, orders } = await ordersOf('both', 0);
    expect(orders).toEqual(['B,A']);
    expect(report.complete).toBe(false);
    expect(report.failure).toBeUndefined();
    expect(report.warnings.join()).toMatch(/time was idle/);
  });

  test('a budget that is asked for must be met', async () => {
    const report = await explore(
      store,
      alone(({ work }) => work(), { faults: { timePasses: 1 } }),
    );
    expect(report.failure?.violated).toMatch(/vacuous: no schedule met any of timePasses/);
  });
});

describe('nothing hangs without a word', () => {
  test('a timer whose callback awaits a statement runs it beside the process', async () => {
    const main = async ({ db, clock }: Process) => {
      const callback: () => unknown = async () => {
        await db.insertInto('note').values({ text: 'by the timer' }).execute();
      };
      clock.schedule(1_000, callback);
      await clock.sleep(5_000);
    };
    const notes = new Set<number>();
    const report = await explore(store, alone(main, { finally: (world) => void notes.add(world.rows('note').length) }));
    expect(report.failure).toBeUndefined();
    expect([...notes].sort()).toEqual([0, 1]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('oops');
      },
    ],
    ['rejects', () => Promise.reject(new Error('oops'))],
  ])('a timer whose callback %s ends its process', async (_title, call: () => unknown) => {
    const main = async ({ clock }: Process) => {
      clock.schedule(10, () => call() as undefined);
      await clock.sleep(50);
    };
    expect((await explore(store, alone(main))).failure?.violated).toBe('process A threw: oops');
  });

  test('a server whose client was never connected is told', async () => {
    const silent = {
      query: () => new Promise<never>(() => undefined),
      end: () => Promise.resolve(),
      on: () => undefined,
    };
    const dead = postgresStore({ connect: () => Promise.resolve(silent) });
    await expect(
      explore(
        dead,
        alone(({ work }) => work()),
      ),
    ).rejects.toThrow(/client that `connect` returned does not reply.*Is it connected\?/);
  });

  test('a store whose connections do not reply is told, with the statement', async () => {
    const never: Scenario['processes'][string] = ({ db }) => db.selectFrom('note').selectAll().execute();
    const deaf = { ...store, connect: () => new Promise<never>(() => undefined) };
    await expect(explore(deaf, alone(never))).rejects.toThrow(
      /the store does not reply: nothing came of a connection for process A/,
    );
  });

  test('exploreDeepening without upTo ends on a scenario that holds', async () => {
    const main = async ({ work }: Process) => {
      await work();
      await work();
    };
    const scenario: Scenario = { processes: { A: main, B: main }, invariant: () => true };
    const deepened = await exploreDeepening(store, scenario);
    expect(deepened.complete).toBe(true);
    expect(deepened.covered).toMatch(/schedules, every one$/);
  });

  test('and its bounds are bounds of all rounds together', async () => {
    const main = async ({ work }: Process) => {
      for (let times = 0; times < 12; times++) await work();
    };
    const scenario: Scenario = { processes: { A: main, B: main, C: main } };
    const begunMs = performance.now();
    const report = await exploreDeepening(store, scenario, { maxMs: 400 });
    expect(report.complete).toBe(false);
    expect(performance.now() - begunMs).toBeLessThan(4_000);
    expect((await exploreDeepening(store, scenario, { maxSchedules: 50 })).schedules).toBe(50);
  });
});

describe('a scenario that says nothing', () => {
  test('has no processes, and is refused', async () => {
    await expect(explore(store, { processes: {} })).rejects.toThrow('processes must have at least one process, got {}');
  });

  test('has a rule that never says anything, and the report does', async () => {
    const holds = (world: { rows(table: string): readonly unknown[] }) => void (world.rows('note').length <= 1);
    const { warnings } = await explore(
      store,
      alone(({ work }) => work(), { invariant: [invariant('one note', holds), () => true] }),
    );
    expect(warnings).toEqual([expect.stringMatching(/the rule "one note" returned undefined in every schedule/)]);
  });
});

describe('a rule that looks at more than the state', () => {
  /** A writes the stage and B has an effect: their order is seen in one transition only. */
  const scenario = (rule: NonNullable<Scenario['invariant']>): Scenario => ({
    processes: {
      A: ({ db }) => db.insertInto('note').values({ text: 'moved' }).execute(),
      B: async ({ effect }) => effect('deploy', () => undefined),
    },
    invariant: rule,
  });
  const moved = (tables: { readonly [table: string]: readonly unknown[] | undefined }) =>
    (tables['note']?.length ?? 0) > 0;

  test('at the tables before the step has every transition run', async () => {
    const rule = invariant(
      'no move after the deployment',
      (world) => moved(world.previous) || !moved(world.snapshot) || (world.effects.get('deploy') ?? 0) === 0,
    );
    for (const reduce of ['none', 'sleep', 'both'] as const) {
      const { failure } = await explore(store, scenario(rule), { reduce });
      expect(failure?.violated).toBe('no move after the deployment: it does not');
    }
  });

  test('at who acted likewise', async () => {
    const rule = invariant(
      'A never acts once B has',
      ({ actors, effects }) => !(actors.some(({ name }) => name === 'A') && (effects.get('deploy') ?? 0) > 0),
    );
    expect((await explore(store, scenario(rule))).failure?.violated).toBe('A never acts once B has: it does not');
  });

  test('at the trace has every schedule run', async () => {
    const twoReads: Scenario = {
      processes: { A: ({ work }) => work('a'), B: ({ work }) => work('b') },
      finally: invariant(
        'a before b',
        ({ trace }) =>
          trace.findIndex((line) => line.includes(': a')) < trace.findIndex((line) => line.includes(': b')),
      ),
    };
    expect((await explore(store, twoReads)).failure?.violated).toBe('a before b: it does not');
  });
});
