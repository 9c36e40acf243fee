import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import {
  crashEverywhere,
  handlerSuite,
  invariant,
  memoryStore,
  type Ported,
  type Process,
  type Runner,
  sqliteFileStore,
  sqlMutants,
} from '../../src/testing/index.js';
import { mutantsOf } from '../../src/testing/suite/mutate-sql.js';
import * as leases from './leases.js';

interface Tables {
  parcel: { id: number; state: string };
}

const migrate = (db: Process<Tables>['db']) =>
  sql`create table parcel (id integer primary key, state text)`.execute(db);
const store = memoryStore<Tables>({ migrate });

afterAll(() => store.close());

describe('crashEverywhere', () => {
  const sent: string[] = [];
  const setup = async () => {
    sent.splice(0);
    await store.admin.insertInto('parcel').values({ id: 1, state: 'packed' }).execute();
  };
  const ship = (onlyIfPacked: boolean) => async (process: Process<Tables>) => {
    const { db } = process;
    const { state } = await db.selectFrom('parcel').select('state').executeTakeFirstOrThrow();
    if (onlyIfPacked && state !== 'packed') return;
    await process.effect('hand over', () => sent.push('parcel'));
    await db.updateTable('parcel').set({ state: 'shipped' }).execute();
  };

  test('kills at each point in turn and compares with the run without a crash', async () => {
    const report = await crashEverywhere(store, ship(true), (world) => [world.rows('parcel'), sent], { setup });
    expect(report.points).toBe(5);
    expect(report.different.map(({ point }) => point.label)).toEqual(['update "parcel" set "state" = ?']);
    expect(report.different[0]).toMatchObject({ got: [[{ state: 'shipped' }], ['parcel', 'parcel']] });
  });

  test('finds no difference where every step can be done again', async () => {
    const { different } = await crashEverywhere(store, ship(true), (world) => world.rows('parcel'), { setup });
    expect(different).toEqual([]);
  });
});

describe('sqlMutants', () => {
  const makeStore = () => memoryStore({ migrate: leases.migrateLease({ guarded: true }) });
  const isWrite = (statement: string) => statement.startsWith('update stage');

  test('a suite that looks away lets mutants live', async () => {
    const { killed, survived } = await sqlMutants(
      makeStore,
      [{ ...leases.workers(leases.rightLease, 'A'), invariant: [] }],
      { only: isWrite },
    );
    expect(killed).toBe(0);
    expect(survived.length).toBeGreaterThan(5);
  });

  test('a suite that pauses a writer past its lease kills the dropped fence', { timeout: 60_000 }, async () => {
    const paused = leases.workers(leases.rightLease, 'AB', { clockJumps: 1, jumpsMs: [leases.ttlMs] });
    const done = invariant<leases.LeaseTables>(
      'an undisturbed worker is done',
      (world) =>
        world.facts.length === 0 ||
        world.processes.some(({ result }) => result === 'done') ||
        world.nowMs > world.startMs,
      { when: 'end' },
    );
    const { killers } = await sqlMutants(
      makeStore,
      [{ ...paused, invariant: [leases.oneGrantPerToken, leases.noStaleWrite, done] }],
      { only: isWrite },
    );
    const dropped = killers.filter(
      ({ change }) => change === 'drops exists (…)' || change === 'drops «fencing_token = ?»',
    );
    expect(dropped.map(({ by }) => by.split(':')[0])).toEqual([
      'no write of an older token after a newer one',
      'no write of an older token after a newer one',
    ]);
  });

  test('refuses scenarios that fail as they stand', async () => {
    const makeUnguarded = () => memoryStore({ migrate: leases.migrateLease({ guarded: false }) });
    await expect(sqlMutants(makeUnguarded, [leases.workers(leases.checkThenAct, 'AB')])).rejects.toThrow(
      'fail without any change',
    );
  });

  test('changes one thing at a time, in any spelling', () => {
    const changes = (statement: string) => mutantsOf(statement).map(({ mutated }) => mutated);
    expect(changes('delete from "l" where "a" = $1 and "e" <= $2')).toEqual([
      'delete from "l" where ("a" = $1 or 1 = 1) and "e" <= $2',
      'delete from "l" where "a" <> $1 and "e" <= $2',
      'delete from "l" where "a" = $1 and ("e" <= $2 or 1 = 1)',
      'delete from "l" where "a" = $1 and "e" < $2',
      'delete from "l" where "a" = $1 and "e" >= $2',
    ]);
    expect(changes('insert into `l` (`a`) values (?) on conflict (`a`) do nothing')).toEqual([
      'insert into `l` (`a`) values (?)',
    ]);
    expect(changes('update t set n = n + 1 where not exists (select 1 from l)')).toEqual([
      'update t set n = n + 1 where (not exists (select 1 from l) or 1 = 1)',
      'update t set n = n + 0 where not exists (select 1 from l)',
    ]);
  });
});

/** A runner that only collects. */
const collecting = () => {
  const tests = new Map<string, () => Promise<void>>();
  const endings: (() => Promise<void>)[] = [];
  const runner: Runner = {
    describe: (_name, define) => define(),
    test: (name, run) => void tests.set(name, run),
    afterAll: (run) => void endings.push(run),
  };
  return { runner, tests, endings };
};

class Bank {
  readonly charges: string[] = [];
  private readonly remembers: boolean;

  constructor(remembers: boolean) {
    this.remembers = remembers;
  }

  charge(task: number): void {
    if (!this.remembers || !this.charges.includes(`task ${task}`)) this.charges.push(`task ${task}`);
  }
}

describe('handlerSuite', { timeout: 180_000 }, () => {
  const suiteWith = (remembers: boolean) => {
    const collected = collecting();
    handlerSuite(collected.runner, {
      store: () => sqliteFileStore(),
      level: { maxSchedules: 1_500 },
      machine: {
        initial: 'charge',
        final: ['done'],
        handlers: {
          charge: async (_process: Process, task: number, { bank }: { bank: Ported<Bank> }) => {
            await bank.charge(task);
            return 'done';
          },
        },
      },
      outside: () => ({ bank: new Bank(remembers) }),
      invariant: ({ bank }) => bank.charges.length <= 1 || `charged ${bank.charges.length} times`,
      eventually: ({ bank }) => bank.charges.length === 1,
    });
    return collected;
  };

  test('passes handlers whose effects know what was done', async () => {
    const { tests, endings } = suiteWith(true);
    expect([...tests.keys()]).toHaveLength(5);
    for (const run of tests.values()) await run();
    for (const end of endings) await end();
  });

  test('fails handlers that charge again after a crash, a pause or a lost answer, and only then', async () => {
    const { tests, endings } = suiteWith(false);
    const verdicts = new Map<string, string>();
    for (const [name, run] of tests)
      verdicts.set(
        name,
        await run().then(
          () => 'passes',
          (error: unknown) => (error as { violated: string }).violated,
        ),
      );
    for (const end of endings) await end();
    expect([...verdicts.values()]).toEqual([
      'passes',
      'the invariant of the handlers: charged 2 times',
      'the invariant of the handlers: charged 2 times',
      'the invariant of the handlers: charged 2 times',
      'passes',
    ]);
  });
});
