import { sql } from 'kysely';
import { acquireLease, type Lease, updateStageCas } from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ContractProcess } from '../contract/process.js';
import { mysqlServer, type Place, postgresServer } from './server.js';

const move = { taskId: 1, expected: 'deploy', next: 'done' } as const;

describe.skipIf(postgresServer.missing !== undefined)('PostgreSQL: a trigger of the caller', () => {
  let place: Place;
  beforeAll(async () => {
    place = await postgresServer.make('triggers');
    await sql`create table history (id bigint, stage text)`.execute(place.db);
  });
  beforeEach(() => place.reset());
  afterAll(() => place.drop());

  /** Lets a trigger run on each update of the tasks, until the test ends. */
  const withTrigger = async (timing: 'before' | 'after', body: string, use: () => Promise<void>): Promise<void> => {
    await sql
      .raw(`create function act() returns trigger language plpgsql as $$ begin ${body} end $$`)
      .execute(place.db);
    await sql.raw(`create trigger act ${timing} update on tasks for each row execute function act()`).execute(place.db);
    await use().finally(() => sql`drop function act() cascade`.execute(place.db));
  };
  const leased = async (): Promise<{ process: ContractProcess; lease: Lease<number, string | null, number> }> => {
    const process = place.process();
    return { process, lease: (await acquireLease(process.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap() };
  };

  test('that takes the write back: nothing was written, and that is told', async () => {
    await withTrigger('before', 'return null;', async () => {
      const { process, lease } = await leased();
      const fenced = await updateStageCas(process.ownership, { ...move, lease, release: true });
      expect(fenced._unsafeUnwrapErr()).toMatchObject({ type: 'lost-race', expected: 'deploy', actual: 'deploy' });
      expect((await sql`select * from transition_lease`.execute(place.db)).rows).toHaveLength(1);
      await sql`delete from transition_lease`.execute(place.db);
      const unfenced = await updateStageCas(process.ownership, move);
      expect(unfenced._unsafeUnwrapErr()).toMatchObject({ type: 'lost-race', actual: 'deploy' });
    });
  });

  test('that moves the row elsewhere: the write was won', async () => {
    const body = 'delete from tasks where id = new.id; insert into history values (new.id, new.stage); return null;';
    await withTrigger('after', body, async () => {
      const { process, lease } = await leased();
      expect((await updateStageCas(process.ownership, { ...move, lease })).isOk()).toBe(true);
      expect((await sql`select stage from history`.execute(place.db)).rows).toEqual([{ stage: 'done' }]);
    });
  });

  test('that rewrites the stage: the stage that it left is told', async () => {
    await withTrigger('before', "new.stage := 'held'; return new;", async () => {
      const { process, lease } = await leased();
      const lost = (await updateStageCas(process.ownership, { ...move, lease }))._unsafeUnwrapErr();
      expect(lost).toMatchObject({ type: 'lost-race', expected: 'deploy', actual: 'held' });
    });
  });

  test('that raises an error: it is the failure, and nothing was written', async () => {
    await withTrigger('before', "raise exception 'not on Fridays';", async () => {
      const { process, lease } = await leased();
      const failed = (await updateStageCas(process.ownership, { ...move, lease }))._unsafeUnwrapErr();
      expect(failed).toMatchObject({ type: 'store-failure', outcome: 'not-applied' });
      expect(failed.message).toContain('not on Fridays');
    });
  });
});

describe.skipIf(mysqlServer.missing !== undefined)('MySQL: a trigger of the caller', () => {
  let place: Place;
  beforeAll(async () => {
    place = await mysqlServer.make('triggers');
  });
  beforeEach(() => place.reset());
  afterAll(() => place.drop());

  test('that raises an error: it is the failure, nothing was written, and the lease is not given back', async () => {
    await sql`create trigger act before update on tasks for each row signal sqlstate '45000' set message_text = 'not on Fridays'`.execute(
      place.db,
    );
    const { ownership } = place.process();
    const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    const failed = (await updateStageCas(ownership, { ...move, lease, release: true }))._unsafeUnwrapErr();
    expect(failed).toMatchObject({ type: 'store-failure', outcome: 'not-applied' });
    expect(failed.message).toContain('not on Fridays');
    expect((await sql`select * from transition_lease`.execute(place.db)).rows).toHaveLength(1);
  });

  test('that keeps the lease: in a transaction of the caller the stage is not written either', async () => {
    await sql`drop trigger if exists act`.execute(place.db);
    await sql`create trigger keep before delete on transition_lease for each row signal sqlstate '45000' set message_text = 'kept'`.execute(
      place.db,
    );
    const { db, ownership } = place.process();
    const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    await db.transaction().execute(async (trx) => {
      await trx.updateTable('tasks').set({ note: 'the caller’s own' }).where('id', '=', 1).execute();
      const failed = await updateStageCas(ownership.using(trx), { ...move, lease, release: true });
      expect(failed._unsafeUnwrapErr()).toMatchObject({ type: 'store-failure', outcome: 'not-applied' });
    });
    await sql`drop trigger keep`.execute(place.db);
    const task = await place.db.selectFrom('tasks').select(['stage', 'note']).where('id', '=', 1).executeTakeFirst();
    expect(task).toEqual({ stage: 'deploy', note: 'the caller’s own' });
    expect((await sql`select * from transition_lease`.execute(place.db)).rows).toHaveLength(1);
    expect((await updateStageCas(ownership, { ...move, lease, release: true })).isOk()).toBe(true);
  });
});
