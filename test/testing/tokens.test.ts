import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import {
  explore,
  Failure,
  invariant,
  memoryStore,
  type Process,
  replay,
  type Scenario,
} from '../../src/testing/index.js';

interface Tables {
  note: { text: string };
}

const store = memoryStore<Tables>({ migrate: (db) => sql`create table note (text text)`.execute(db) });

afterAll(() => store.close());

const look = ({ db }: Process<Tables>) => db.selectFrom('note').selectAll().execute();
const write = ({ db, name }: Process<Tables>) => db.insertInto('note').values({ text: name }).execute();

/** Looks, then writes: two do so at once. */
const checkThenAct = async (process: Process<Tables>) => {
  if ((await look(process)).length === 0) await write(process);
};

const scenario = (main: (process: Process<Tables>) => Promise<unknown>): Scenario<Tables> => ({
  processes: { A: main, B: main },
  faults: { crashes: 1 },
  invariant: invariant('one note', (world) => world.rows('note').length <= 1),
});

const found = async (): Promise<string> => (await explore(store, scenario(checkThenAct))).failure?.token ?? '';

describe('a token knows its steps', () => {
  test('and is followed past steps that are new', async () => {
    const token = await found();
    const more = async (process: Process<Tables>) => {
      await process.db.selectFrom('note').select('text').where('text', '=', 'settings').execute();
      await process.work();
      await checkThenAct(process);
    };
    expect(await replay(store, scenario(checkThenAct), token)).toHaveProperty('violated', 'one note: it does not');
    expect(await replay(store, scenario(more), token)).toHaveProperty('violated', 'one note: it does not');
  });

  test('and says so where one of them is gone', async () => {
    const token = await found();
    const mended = async ({ db, name }: Process<Tables>) => {
      const none = db.selectFrom('note').select('text');
      await db
        .insertInto('note')
        .columns(['text'])
        .expression(db.selectNoFrom((make) => make.val(name).as('text')).where((when) => when.not(when.exists(none))))
        .execute();
    };
    const run = await replay(store, scenario(mended), token);
    expect(run).not.toBeInstanceOf(Failure);
    expect(run).toMatchObject({ fits: false });
  });

  test('and fits where the same steps do no harm any more', async () => {
    const token = await found();
    const harmless: Scenario<Tables> = { ...scenario(checkThenAct), invariant: () => true };
    expect(await replay(store, harmless, token)).toMatchObject({ fits: true });
  });

  test('a kill is made where it was made, however many steps stand before it', async () => {
    const died = invariant<Tables>(
      'nobody dies before a write',
      ({ processes, trace }) =>
        !processes.some(({ state }) => state === 'killed') || !(trace.at(-1) ?? '').includes('insert'),
    );
    const { failure } = await explore(store, { ...scenario(checkThenAct), invariant: died });
    const more = async (process: Process<Tables>) => {
      for (let times = 0; times < 5; times++) await process.work('warm up');
      await checkThenAct(process);
    };
    const again = await replay(store, { ...scenario(more), invariant: died }, failure?.token ?? '');
    expect(again).toHaveProperty('violated', failure?.violated);
  });

  test.each([
    ['one of version 0.1', 's1.uimube.0*2.1.0*2.1', /made by version 0\.1.*explore again/],
    ['another word', 's2.abc', /not a schedule token/],
    ['one of another scenario', 's2.abc.', /other processes or faults/],
  ])('%s is refused', async (_title, token, reason) => {
    await expect(replay(store, scenario(checkThenAct), token)).rejects.toThrow(reason);
  });
});
