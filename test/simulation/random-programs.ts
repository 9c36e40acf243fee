import { type Kysely, sql } from 'kysely';
import {
  type Bounds,
  explore,
  type Faults,
  type Process,
  type Scenario,
  type TestStore,
} from 'transition-ownership/testing';

/** The table of the random programs. */
export interface Cells {
  cell: { id: number; n: number };
}

/** Makes it. */
export const migrate = async (db: Kysely<Cells>): Promise<void> => {
  await sql`create table cell (id integer not null primary key, n integer not null)`.execute(db);
};

type Op = (process: Process<Cells>, memory: { sum: number }) => Promise<unknown>;

/** Every kind of step that a process can take; each may hang on what was seen before. */
const ops: readonly ((draw: (below: number) => number) => Op)[] = [
  (draw) => {
    const id = 1 + draw(2);
    return async ({ db }, memory) => {
      const { n } = await db.selectFrom('cell').select('n').where('id', '=', id).executeTakeFirstOrThrow();
      memory.sum += n;
    };
  },
  (draw) => {
    const id = 1 + draw(2);
    return ({ db }) =>
      db
        .updateTable('cell')
        .set((cell) => ({ n: cell('n', '+', 1) }))
        .where('id', '=', id)
        .execute();
  },
  (draw) => {
    const id = 1 + draw(2);
    return ({ db }, memory) => db.updateTable('cell').set({ n: memory.sum }).where('id', '=', id).execute();
  },
  (draw) => {
    const ms = 50 * (1 + draw(3));
    return ({ clock }) => clock.sleep(ms);
  },
  (draw) => {
    const ms = 40 * (1 + draw(3));
    return ({ clock, ghost }) => {
      clock.schedule(ms, () => ghost({ rings: ms }));
      return Promise.resolve();
    };
  },
  () =>
    ({ work }) =>
      work(),
  (draw) => {
    const label = draw(2) === 0 ? 'send' : 'call';
    return ({ effect }) => effect(label, () => undefined);
  },
  () =>
    ({ ghost, clock }) => {
      ghost({ at: clock.now() });
      return Promise.resolve();
    },
  () =>
    async ({ work, effect }, memory) => {
      await (memory.sum % 2 === 0 ? work() : effect('odd', () => undefined));
    },
];

/** A program of two or three short processes and a fault or none, the same for the same seed. */
export function randomProgram(seed: number): Scenario<Cells> {
  const draw = drawing(seed);
  const names = draw(5) === 0 ? ['A', 'B', 'C'] : ['A', 'B'];
  const processes = names.map((name) => {
    const length = names.length === 3 ? 1 : 1 + draw(3);
    const made = Array.from({ length }, () => ops[draw(ops.length)]?.(draw));
    const main = async (process: Process<Cells>) => {
      const memory = { sum: 0 };
      for (const op of made) await op?.(process, memory);
      return memory.sum;
    };
    return [name, main] as const;
  });
  const faults: readonly Faults[] = [
    {},
    {},
    {},
    {},
    { crashes: 1 },
    { crashes: 1, restarts: { count: 1, pid: 'another' } },
    { lostReplies: 1 },
    { clockJumps: 1, jumpsMs: [75] },
  ];
  return {
    processes: Object.fromEntries(processes),
    faults: { timePasses: draw(3), timers: 2, ...faults[draw(faults.length)] },
    setup: ({ store }) =>
      store.admin
        .insertInto('cell')
        .values([1, 2].map((id) => ({ id, n: 0 })))
        .execute(),
    mayThrow: () => true,
  };
}

/** Everything that can be seen of a program: each state that it is ever in, and each end that it can come to. */
export async function seenOf(
  store: TestStore<Cells>,
  program: Scenario<Cells>,
  bounds: Bounds,
): Promise<{ readonly through: boolean; readonly states: readonly string[]; readonly ends: readonly string[] }> {
  const states = new Set<string>();
  const ends = new Set<string>();
  const report = await explore(
    store,
    {
      ...program,
      invariant: ({ rows, facts, effects, nowMs }) => {
        states.add(JSON.stringify([rows('cell'), facts, [...effects].sort(), nowMs]));
        return true;
      },
      finally: ({ rows, facts, effects, nowMs, processes }) => {
        const results = processes.map(({ incarnation, state, result }) => [incarnation, state, result]);
        ends.add(JSON.stringify([rows('cell'), facts, [...effects].sort(), nowMs, results]));
        return true;
      },
    },
    { rerunEvery: 0, ...bounds },
  );
  const vacuous = report.failure?.token === '';
  if (report.failure !== undefined && !vacuous) throw report.failure;
  // What a program has a budget for, it need not be able to meet; and time that idles does so in every search.
  const stopped = report.schedules >= (bounds.maxSchedules ?? Number.POSITIVE_INFINITY);
  return { through: !stopped, states: [...states].sort(), ends: [...ends].sort() };
}

/** Small, well spread, and the same everywhere. */
function drawing(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
