import { sql } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  inspectLease,
  reclaimStaleLeases,
  shouldDefer,
  updateStageCas,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';

/** The clock of the database, and the times in the columns of the caller. */
export function times(site: Site): void {
  describe('timeFormat', () => {
    const near = (ms: number): void => expect(Math.abs(ms - Date.now())).toBeLessThan(60_000);

    test.each([
      ['sqlite-text', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/],
      ['iso', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
    ] as const)('%s is text in UTC with milliseconds', async (timeFormat, shape) => {
      const { db } = site.process();
      await site.addTask(1, 'deploy');
      const tasks = { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'note' } as const;
      const ownership = createTransitionOwnership({ db, timeFormat, tasks });
      expect((await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done' })).isOk()).toBe(true);
      const row = await site.db.selectFrom('tasks').select('note').where('id', '=', 1).executeTakeFirst();
      expect(row?.note).toMatch(shape);
      near(Date.parse(row?.note?.replace(' ', 'T').replace(/Z?$/, 'Z') ?? ''));
    });

    test('epoch-ms is an integer', async () => {
      const { db } = site.process();
      await site.addTask(1, 'deploy');
      const tasks = { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'moved_ms' } as const;
      const ownership = createTransitionOwnership({ db, timeFormat: 'epoch-ms', tasks });
      expect((await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done' })).isOk()).toBe(true);
      const row = await site.db.selectFrom('tasks').select('moved_ms').where('id', '=', 1).executeTakeFirst();
      near(Number(row?.moved_ms));
    });

    test('by default is what the database has for instants', async () => {
      const { ownership } = site.process();
      await site.addTask(1, 'deploy');
      expect((await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done' })).isOk()).toBe(true);
      const { rows } = await sql<{
        at: string;
      }>`select ${site.store.utc(sql.ref('updated_at'))} as at from tasks where id = 1`.execute(site.db);
      near(Date.parse(`${rows[0]?.at.replace(' ', 'T') ?? ''}Z`));
    });
  });

  describe('the clock of the database', () => {
    test('that was set back leaves an expiry ahead, which who would take the lease lowers to a TTL from now', async () => {
      const [holder, looker, taker] = [site.process(), site.process(), site.process()];
      for (const taskId of [1, 2]) {
        (await acquireLease(holder.ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap();
        await sql`update transition_lease set expires_ms = expires_ms + 80000000, owner_host = 'elsewhere'`.execute(
          site.db,
        );
        const before = await site.leases();
        (await inspectLease(looker.ownership, taskId))._unsafeUnwrap();
        (await shouldDefer(looker.ownership, taskId))._unsafeUnwrap();
        expect(await site.leases()).toEqual(before);
        if (taskId === 1) {
          const refused = (await acquireLease(taker.ownership, { taskId, actor: 'reaper' }))._unsafeUnwrapErr();
          expect(refused).toMatchObject({ type: 'lease-busy', reason: 'clock-set-back' });
        } else expect((await reclaimStaleLeases(taker.ownership))._unsafeUnwrap()).toMatchObject({ reclaimed: [] });
        const [row] = await site.leases();
        expect(Number(row?.expires_ms)).toBeLessThan(Date.now() + 90_000);
        expect(Number(row?.expires_ms)).toBeGreaterThan(Date.now() - 30_000);
        await site.remove(taskId);
      }
    });

    test('goes on in a transaction that has been open for long', async () => {
      const { db, ownership } = site.process();
      await site.addTasks(5_000);
      await db.transaction().execute(async (trx) => {
        const inside = ownership.using(trx);
        const first = (await acquireLease(inside, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        for (let taskId = 2; ; taskId += 1) {
          const later = (await acquireLease(inside, { taskId, actor: 'monitor' }))._unsafeUnwrap();
          if (later.acquiredAtMs >= first.acquiredAtMs + 5) break;
          expect(taskId).toBeLessThan(5_000);
        }
      });
    });
  });
}
