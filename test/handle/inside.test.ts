import { sql } from 'kysely';
import { createTransitionOwnership, ensureSchema, updateStageCas, withTransitionLease } from 'transition-ownership';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestFile } from '../rig/file.js';
import { err, ok } from '../rig/proofs.js';
import { places, type Tables, type TwoSchemas, tasks } from './places.js';

const request = { taskId: 1, actor: 'worker', stage: 'a' } as const;

test('on SQLite a transaction that has read an old state is not told by ensure that the lease is still held', async () => {
  await using file = new TestFile<Tables>();
  await file.run(
    'create table tasks (id integer primary key, stage text, note text)',
    "insert into tasks values (1, 'a', null)",
  );
  const db = file.open();
  const ownership = createTransitionOwnership({ db, tasks });
  await ok(ensureSchema(ownership));
  const done = withTransitionLease(ownership, request, (held) =>
    db.transaction().execute(async (trx) => {
      await trx.selectFrom('tasks').selectAll().execute();
      await file.run('delete from transition_lease');
      return err(held.using(trx).ensure(0));
    }),
  );
  const value = { type: 'store-failure', kind: 'busy', outcome: 'not-applied' };
  expect(await err(done)).toMatchObject({ type: 'lease-lost', reason: 'gone', value });
});

/** What a handler does inside a transaction of its own. */
describe.each(places)('$name', (kind) => {
  const check = test.skipIf(kind.missing !== undefined);
  let place: TwoSchemas;

  const make = async () => {
    const ownership = createTransitionOwnership({ db: place.db, tasks, effects: {} });
    await ok(ensureSchema(ownership));
    return ownership;
  };
  const rows = async (table: string) =>
    (await sql<Record<string, unknown>>`select * from ${sql.id(table)} order by 1`.execute(place.db)).rows;

  beforeEach(async () => {
    if (kind.missing === undefined) place = await kind.make();
  });
  afterEach(async () => {
    if (kind.missing === undefined) await place.drop();
  });

  check(
    'input 14: ensure and the stage write of a handler go into its transaction, and commit with its rows',
    async () => {
      const ownership = await make();
      const done = await ok(
        withTransitionLease(ownership, request, (held) =>
          place.db.transaction().execute(async (trx) => {
            const inside = held.using(trx);
            await trx.updateTable('tasks').set({ note: 'mine' }).where('id', '=', 2).execute();
            expect(await ok(inside.ensure(5_000))).toMatchObject({ taskId: 1, guarded: true });
            return ok(inside.updateStage('b', { set: { note: 'moved' } }));
          }),
        ),
      );
      expect(done).toMatchObject({ from: 'a', to: 'b', released: false });
      expect(await rows('tasks')).toMatchObject([
        { stage: 'b', note: 'moved' },
        { stage: 'a', note: 'mine' },
      ]);
      expect(await rows('transition_lease')).toEqual([]);
    },
  );

  check('a transaction that is rolled back moved nothing, and its lease is still held', async () => {
    const ownership = await make();
    const done = withTransitionLease(ownership, request, async (held) => {
      const rolledBack = place.db.transaction().execute(async (trx) => {
        await ok(held.using(trx).updateStage('b', { release: true }));
        throw new Error('rolled back');
      });
      await expect(rolledBack).rejects.toThrow('rolled back');
      await ok(held.ensure(1_000));
      return held.updateStage('c');
    });
    expect(await ok(done)).toMatchObject({ from: 'a', to: 'c' });
  });

  check('a lease that another owner has taken fails both inside', async () => {
    const ownership = await make();
    await ok(
      withTransitionLease(ownership, request, async (held) => {
        await sql`update transition_lease set claim = 'another', owner = 'another'`.execute(place.db);
        await place.db.transaction().execute(async (trx) => {
          const inside = held.using(trx);
          const lost = { type: 'lease-lost', reason: 'superseded', holder: { actor: 'another' } };
          expect(await err(inside.ensure(0))).toMatchObject(lost);
          expect(await err(inside.updateStage('b'))).toMatchObject(lost);
        });
        await sql`update transition_lease set claim = ${held.claim}, owner = 'worker'`.execute(place.db);
      }),
    );
    expect(await rows('tasks')).toMatchObject([{ stage: 'a' }, { stage: 'a' }]);
  });

  check('ensure tells how much is left, and locks the row without a renewal', async () => {
    const ownership = await make();
    await ok(
      withTransitionLease(ownership, request, async (held) => {
        const before = await rows('transition_lease');
        await place.db.transaction().execute(async (trx) => {
          const little = await err(held.using(trx).ensure(10_000_000));
          expect(little).toMatchObject({ type: 'not-enough-time' });
          await ok(held.using(trx).ensure(1_000));
        });
        expect(await rows('transition_lease')).toEqual(before);
      }),
    );
  });

  check('an effect is refused in a transaction, and a handle on another schema is refused at all', async () => {
    const ownership = await make();
    await ok(
      withTransitionLease(ownership, request, (held) =>
        place.db.transaction().execute(async (trx) => {
          const effect = { effect: 'deploy', key: 'k', needsMs: 0, apply: () => 'done' };
          expect(() => held.using(trx).runEffect(effect)).toThrow(TypeError);
          expect(() => held.using(trx.withSchema(place.other))).toThrow(
            `got "${place.other}.tasks" where the ownership has "tasks"`,
          );
        }),
      ),
    );
  });

  check('ensure of a connection that the handler holds goes over it, and renews', async () => {
    const ownership = await make();
    await ok(
      withTransitionLease(ownership, request, async (held) => {
        await sql`update transition_lease set expires_ms = expires_ms - 5000`.execute(place.db);
        const [before] = await rows('transition_lease');
        await place.db.connection().execute(async (connection) => {
          await ok(held.using(connection).ensure(5_000));
          expect(await ok(held.using(connection).updateStage('b'))).toMatchObject({ to: 'b' });
          expect(
            await ok(updateStageCas(ownership.using(connection), { taskId: 2, expected: 'a', next: 'c' })),
          ).toMatchObject({ to: 'c' });
        });
        const [after] = await rows('transition_lease');
        expect(Number(after?.['expires_ms'])).toBeGreaterThan(Number(before?.['expires_ms']));
      }),
    );
  });
});
