import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import {
  assertHolds,
  explore,
  handlerSuite,
  invariant,
  memoryStore,
  type Ported,
  type Process,
  type Runner,
  reached,
  regressions,
  type Scenario,
} from '../../src/testing/index.js';

interface Tables {
  note: { text: string };
}

const store = memoryStore<Tables>({ migrate: (db) => sql`create table note (text text)`.execute(db) });

afterAll(() => store.close());

const look = ({ db }: Process<Tables>) => db.selectFrom('note').selectAll().execute();
const write = ({ db, name }: Process<Tables>) => db.insertInto('note').values({ text: name }).execute();

const checkThenAct = async (process: Process<Tables>) => {
  if ((await look(process)).length === 0) await write(process);
};

const scenario = (main: (process: Process<Tables>) => Promise<unknown>): Scenario<Tables> => ({
  processes: { A: main, B: main },
  invariant: invariant('one note', (world) => world.rows('note').length <= 1),
});

const found = async (): Promise<string> => (await explore(store, scenario(checkThenAct))).failure?.token ?? '';

describe('regressions', () => {
  test('finds a failure that is back', async () => {
    const { failure, schedules } = await regressions(store, scenario(checkThenAct), [await found()]);
    expect(failure?.violated).toBe('one note: it does not');
    expect(schedules).toBe(1);
  });

  test('finds it beside its token, where the mistake moved by a statement', async () => {
    const token = await found();
    const mended: Scenario<Tables> = {
      ...scenario(async (process) => {
        if ((await look(process)).length > 0) return;
        // Looks once more: the old schedule does no harm, and one that switches a step later does.
        if ((await look(process)).length === 0) await write(process);
      }),
    };
    const { failure, unfit } = await regressions(store, mended, [token], { preemptions: 2 });
    expect(failure?.violated).toBe('one note: it does not');
    expect(unfit).toEqual([token]); // its write never comes on the old schedule
  });

  test('says which tokens say nothing any more, and finds nothing where nothing is', async () => {
    const token = await found();
    const other = scenario(async ({ db }) => db.deleteFrom('note').execute());
    expect(await regressions(store, other, [token])).toMatchObject({ unfit: [token] });
    const harmless: Scenario<Tables> = { ...scenario(checkThenAct), invariant: () => true };
    const { failure, unfit, schedules } = await regressions(store, harmless, [token], { maxSchedules: 30 });
    expect(failure).toBeUndefined();
    expect(unfit).toEqual([]);
    expect(schedules).toBeGreaterThan(3);
  });
});

describe('reached', () => {
  const bothLooked = reached<Tables>('both wait to write', ({ facts }) => facts.length === 2);
  const looking = async (process: Process<Tables>) => {
    await look(process);
    process.ghost({ looked: true });
    await process.work();
  };

  test('holds a search to what must happen in it', async () => {
    assertHolds(await explore(store, { ...scenario(looking), invariant: [bothLooked] }));
    const alone: Scenario<Tables> = { processes: { A: looking }, invariant: [bothLooked] };
    const { failure, complete } = await explore(store, alone);
    expect(complete).toBe(false);
    expect(failure?.violated).toMatch(/^never reached: "both wait to write"/);
  });
});

class Bank {
  readonly charges: number[] = [];

  charge(task: number): void {
    this.charges.push(task);
  }
}

describe('handlerSuite', { timeout: 120_000 }, () => {
  type Outside = { bank: Ported<Bank> };
  const suite = (more: object) => {
    const tests = new Map<string, () => Promise<void>>();
    const endings: (() => Promise<void>)[] = [];
    const runner: Runner = {
      describe: (_name, define) => define(),
      test: (name, run) => void tests.set(name, run),
      afterAll: (run) => void endings.push(run),
    };
    handlerSuite(runner, {
      store: () => memoryStore({ transactions: 'global-lock' }),
      level: { maxSchedules: 2_000 },
      machine: () => ({
        initial: 'charge',
        final: ['done'],
        handlers: {
          charge: async (_process: Process, task: number, { bank }: Outside) => {
            await bank.charge(task);
            return 'done';
          },
        },
      }),
      outside: () => ({ bank: new Bank() }),
      invariant: ({ bank }) => bank.charges.length <= 1 || `charged ${bank.charges.length} times`,
      ...more,
    });
    const outcomes = async () => {
      const said: string[] = [];
      for (const run of tests.values()) said.push(await run().then(() => 'passes', String));
      for (const end of endings) await end();
      return said;
    };
    return { tests, outcomes };
  };

  test('prints the line that replays its failure, and runs that alone when it is pasted', async () => {
    const [said = ''] = await suite({ faults: { lostReplies: 1 } }).outcomes();
    expect(said).toMatch(/charged 2 times/);
    const [, token = ''] = /^ {2}replay: '([^']+)',$/m.exec(said) ?? [];
    const again = suite({ faults: { lostReplies: 1 }, replay: token });
    expect([...again.tests.keys()]).toEqual(['the schedule that is replayed']);
    expect((await again.outcomes())[0]).toContain('charged 2 times');
    const [other] = await suite({
      faults: { lostReplies: 1 },
      replay: token.replace(/.{4}$/, '0zzz'),
      invariant: () => true,
    }).outcomes();
    expect(other).toMatch(/a step of s2\.\S+ is gone/);
  });

  test('fails where what must be reached never is', async () => {
    const never = { faults: {}, reached: { 'charged twice': ({ bank }: { bank: Bank }) => bank.charges.length === 2 } };
    expect((await suite(never).outcomes())[0]).toMatch(/never reached: "charged twice"/);
    const once = { faults: {}, reached: { charged: ({ bank }: { bank: Bank }) => bank.charges.length === 1 } };
    expect((await suite(once).outcomes())[0]).toBe('passes');
  });
});

describe('a scenario with a name that says nothing', () => {
  test.each([
    [{ ...scenario(checkThenAct), faults: { crash: 1 } }, /no option "crash".*did you mean "crashes"/],
    [{ ...scenario(checkThenAct), invariants: () => false }, /no option "invariants".*did you mean "invariant"/],
    [{ ...scenario(checkThenAct), processes: {} }, /processes must have at least one process/],
  ])('is refused', async (given, reason) => {
    await expect(explore(store, given as Scenario<Tables>)).rejects.toThrow(reason);
  });
});
