import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import {
  assertHolds,
  effectAtMostOnce,
  explore,
  invariant,
  memoryStore,
  type Process,
  type ProcessMain,
  type Scenario,
  sqliteFileStore,
} from '../../src/testing/index.js';

interface Tables {
  note: { text: string };
  lease: { expires_ms: number };
}

const migrate = async (
  db: Parameters<NonNullable<NonNullable<Parameters<typeof memoryStore<Tables>>[0]>['migrate']>>[0],
) => {
  await sql`create table note (text text)`.execute(db);
  await sql`create table lease (expires_ms integer)`.execute(db);
};
const store = memoryStore<Tables>({ migrate });
const file = sqliteFileStore<Tables>({ migrate });

afterAll(async () => {
  await Promise.all([store.close(), file.close()]);
});

/** Everything that the main function answered, over all schedules. */
async function answersOf(
  main: ProcessMain<Tables>,
  rest: Partial<Scenario<Tables>> = {},
  on = store,
): Promise<string[]> {
  const answers = new Set<string>();
  const report = await explore(on, {
    processes: { A: main },
    finally: (world) => {
      const [a] = world.processes;
      answers.add(a?.state === 'ended' ? String(a.result) : String(a?.state));
    },
    ...rest,
  });
  assertHolds(report);
  return [...answers].sort();
}

const note =
  (text: string) =>
  async ({ db }: Process<Tables>) =>
    db.insertInto('note').values({ text }).execute();
const notes = async ({ db }: Process<Tables>) => (await db.selectFrom('note').selectAll().execute()).length;

describe('virtual time', () => {
  test('passes by itself when all that is left is asleep, and no real time does', async () => {
    const begunMs = performance.now();
    const main = async ({ clock }: Process<Tables>) => {
      await clock.sleep(3_600_000);
      return clock.now() - 1_000_000;
    };
    expect(await answersOf(main)).toEqual(['3600000']);
    expect(performance.now() - begunMs).toBeLessThan(5_000);
  });

  test('a timer that is due is one more thing that may happen next', async () => {
    const main = async ({ clock, work }: Process<Tables>) => {
      let called = 0;
      clock.schedule(10, () => (called += 1));
      clock.schedule(10, () => (called += 10)).cancel();
      await clock.sleep(10);
      await work();
      return called;
    };
    expect(await answersOf(main)).toEqual(['0', '1']);
  });

  test('timers stop at their budget, which is a bound and not a failure', async () => {
    const main = ({ clock }: Process<Tables>) =>
      new Promise(() => {
        const again = () => void clock.schedule(10, again);
        again();
      });
    const report = await explore(store, { processes: { A: main }, faults: { timers: 3 } });
    expect(report.failure).toBeUndefined();
    expect(report.steps).toBeLessThan(12);
  });

  test('the database tells it too', async () => {
    for (const each of [store, file]) {
      const main = async ({ db, clock }: Process<Tables>) => {
        await clock.sleep(5);
        const { rows } = await sql<{ now: number }>`select ${each.nowMs} as now`.execute(db);
        return rows[0]?.now === clock.now();
      };
      expect(await answersOf(main, {}, each)).toEqual(['true']);
    }
  });
});

describe('effects', () => {
  test('of a port are steps named after their methods, and are counted', async () => {
    const sent: number[] = [];
    const main = async (process: Process<Tables>) => {
      const mail = process.port('mail', { size: 3, send: (number: number) => sent.push(number) });
      await Promise.resolve(mail.send(mail.size)).catch(() => mail.send(mail.size));
    };
    const scenario: Scenario<Tables> = {
      processes: { A: main },
      setup: () => void sent.splice(0),
      invariant: [effectAtMostOnce('mail.send')],
    };
    assertHolds(await explore(store, scenario));
    const report = await explore(store, { ...scenario, faults: { lostReplies: 1 } });
    expect(report.failure?.violated).toBe('effect "mail.send" at most once: it took place 2 times');
    expect(report.failure?.trace).toContain('A.1: mail.send [3] => 2');
  });

  test('eventually: a fresh start after all faults brings things right, or the rule is broken', async () => {
    const main = async (process: Process<Tables>) => {
      if ((await notes(process)) === 0) await note('x')(process);
    };
    const one = invariant<Tables>('one note', (world) => world.rows('note').length === 1);
    const scenario: Scenario<Tables> = { processes: { A: main }, faults: { crashes: 1 } };
    assertHolds(await explore(store, { ...scenario, eventually: one }));
    const broken = await explore(store, { ...scenario, finally: one });
    expect(broken.failure?.violated).toBe('one note: it does not');
    const idle = await explore(store, { ...scenario, eventually: one, recover: async () => undefined });
    expect(idle.failure?.violated).toBe('one note: it does not');
  });
});
