import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import {
  assertHolds,
  explore,
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

describe('faults', () => {
  test('a crash comes before any statement, and a restart begins with nothing in memory', async () => {
    const main = async (process: Process<Tables>) => {
      await note('once')(process);
      return `${process.incarnation}: ${await notes(process)}`;
    };
    expect(await answersOf(main, { faults: { crashes: 1, restarts: 1 } })).toEqual(['1: 1', '2: 1', '2: 2']);
  });

  test('a restart has the same pid or another, but always another boot id and start mark', async () => {
    const main = async ({ work, pid, bootId, ports }: Process<Tables>) => {
      await work();
      return `${pid} ${bootId} ${ports.identity.start}`;
    };
    const restarted = (pid: 'same' | 'another' | 'either') =>
      answersOf(main, { faults: { crashes: 1, restarts: { count: 1, pid } } });
    expect(await restarted('either')).toEqual([
      '101 boot-A-1 start-A-1',
      '101 boot-A-2 start-A-2',
      '102 boot-A-2 start-A-2',
    ]);
    expect(await restarted('same')).toEqual(['101 boot-A-1 start-A-1', '101 boot-A-2 start-A-2']);
    expect(await restarted('another')).toEqual(['101 boot-A-1 start-A-1', '102 boot-A-2 start-A-2']);
  });

  test('a lost reply is an error of a statement that took place, a failure of one that did not', async () => {
    const main = async (process: Process<Tables>) => {
      const said = await note('x')(process).then(
        () => 'done',
        (error: unknown) => (error as Error).message,
      );
      return `${said}; ${await notes(process).catch(() => '?')} there`;
    };
    const lost = await answersOf(main, { faults: { lostReplies: 1 } });
    expect(lost).toContain('injected: the statement ran, its reply was lost; 1 there');
    const failed = await answersOf(main, { faults: { failures: 1 } });
    expect(failed).toContain('injected: database is locked; 0 there');
  });

  test('failures come with each of the errors that are given', async () => {
    const main = ({ effect }: Process<Tables>) =>
      effect('call', () => 'fine').catch((error: unknown) => (error as Error).message);
    const errors = [() => new Error('refused'), () => new Error('timed out')];
    expect(await answersOf(main, { faults: { failures: { count: 1, errors } } })).toEqual([
      'fine',
      'refused',
      'timed out',
    ]);
  });

  test('a full disk refuses writes until it has room again, and lets reads through', async () => {
    const main = async (process: Process<Tables>) => {
      const write = () =>
        note('x')(process).then(
          () => 'written',
          (error: unknown) => (error as { code: string }).code,
        );
      return `${await write()} ${await notes(process)} ${await write()}`;
    };
    expect(await answersOf(main, { faults: { diskFull: 1 } })).toEqual(
      expect.arrayContaining([
        'SQLITE_FULL 0 SQLITE_FULL',
        'SQLITE_FULL 0 written',
        'written 1 SQLITE_FULL',
        'written 1 written',
      ]),
    );
  });

  test('clocks jump to just below, exactly at and just past every expiry in sight', async () => {
    const main = async ({ db, clock, work }: Process<Tables>) => {
      await db.insertInto('lease').values({ expires_ms: 1_000_100 }).execute();
      await work();
      return clock.now() - 1_000_000;
    };
    expect(await answersOf(main, { faults: { clockJumps: 1 } })).toEqual(['0', '100', '101', '99']);
    expect(await answersOf(main, { faults: { clockJumps: 1, jumpsMs: [7] } })).toEqual(['0', '7']);
    expect(await answersOf(main, { faults: { clockJumps: 1 }, expiries: () => [1_000_050] })).toEqual([
      '0',
      '49',
      '50',
      '51',
    ]);
  });

  test('a skewed process has another wall clock and the same monotonic one', async () => {
    const main = async ({ clock }: Process<Tables>) => `${clock.wallMs() - 1_000_000} ${clock.monotonicMs()}`;
    expect(await answersOf(main, { faults: { skewMs: { A: -250 } } })).toEqual(['-250 1000000']);
  });
});
