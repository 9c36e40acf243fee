import {
  acquireLease,
  acquireLeases,
  inspectLease,
  ownedBy,
  reclaimStaleLeases,
  releaseLease,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';

const TIMES = { ttlMs: 3_000, renewEveryMs: 1_000 } as const;

class RolledBack extends Error {}

/** The verbs on a transaction of the caller's. */
export function transactions(site: Site): void {
  describe('using(trx)', () => {
    test('commits lease, stage and rows of the caller together', async () => {
      const { db, ownership, told } = site.process();
      await site.addTask(1, 'deploy');
      await db.transaction().execute(async (trx) => {
        const inside = ownership.using(trx);
        const lease = (await acquireLease(inside, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        const moved = await updateStageCas(inside, {
          taskId: 1,
          expected: 'deploy',
          next: 'done',
          lease,
          release: true,
        });
        expect(moved._unsafeUnwrap()).toMatchObject({ released: true });
        await trx.updateTable('tasks').set({ note: 'with it' }).where('id', '=', 1).execute();
      });
      expect(await site.stageOf(1)).toBe('done');
      expect(await site.leases()).toEqual([]);
      expect(told('lease.acquired')).toMatchObject([{ provisional: true }]);
      expect(told('lease.released')).toMatchObject([{ provisional: true }]);
    });

    test('leaves nothing behind after a rollback', async () => {
      const { db, ownership } = site.process();
      await site.addTask(1, 'deploy');
      const rolledBack = db.transaction().execute(async (trx) => {
        const inside = ownership.using(trx);
        const lease = (await acquireLease(inside, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        const moved = await updateStageCas(inside, { taskId: 1, expected: 'deploy', next: 'done', lease });
        expect(moved.isOk()).toBe(true);
        throw new RolledBack();
      });
      await expect(rolledBack).rejects.toBeInstanceOf(RolledBack);
      expect(await site.stageOf(1)).toBe('deploy');
      expect((await acquireLease(ownership, { taskId: 1, actor: 'reaper' })).isOk()).toBe(true);
      expect(await site.leases()).toMatchObject([{ owner: 'reaper' }]);
    });

    test('holds a lease for good once its commit was seen', async () => {
      const process = site.process({ lease: TIMES });
      const lease = await process.db
        .transaction()
        .execute(async (trx) => acquireLease(process.ownership.using(trx), { taskId: 1, actor: 'monitor' }));
      await process.renewed(1);
      expect(process.told('lease.renewed')).toMatchObject([{ taskId: 1 }]);
      const held = lease._unsafeUnwrap();
      await site.remove(1);
      await process.renewed(1);
      expect(held.signal.reason).toMatchObject({ type: 'lease-lost', reason: 'gone' });
    });

    test('stays usable after every way of losing', async () => {
      const holder = site.process();
      const { db, ownership } = site.process();
      await site.addTask(1, 'deploy');
      await site.addTask(2, 'deploy');
      const old = (await acquireLease(ownership, { taskId: 2, actor: 'monitor' }))._unsafeUnwrap();
      await site.remove(2);
      (await acquireLease(holder.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      await db.transaction().execute(async (trx) => {
        const inside = ownership.using(trx);
        const busy = await acquireLease(inside, { taskId: 1, actor: 'reaper' });
        expect(busy._unsafeUnwrapErr()).toMatchObject({ type: 'lease-busy' });
        const many = (
          await acquireLeases(
            inside,
            [1, 3].map((taskId) => ({ taskId, actor: 'reaper' })),
          )
        )._unsafeUnwrap();
        expect(many).toMatchObject({ acquired: [{ taskId: 3 }], busy: [{ taskId: 1 }] });
        const refused = await updateStageCas(inside, { taskId: 1, expected: 'deploy', next: 'done' });
        expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'lease-busy' });
        const raced = await updateStageCas(inside, { taskId: 2, expected: 'queued', next: 'done' });
        expect(raced._unsafeUnwrapErr()).toMatchObject({ type: 'lost-race', actual: 'deploy' });
        const nobody = await updateStageCas(inside, { taskId: 99, expected: 'queued', next: 'done' });
        expect(nobody._unsafeUnwrapErr()).toMatchObject({ type: 'task-not-found' });
        const lost = await updateStageCas(inside, { taskId: 2, expected: 'deploy', next: 'done', lease: old });
        expect(lost._unsafeUnwrapErr()).toMatchObject({ type: 'lease-lost', reason: 'gone' });
        expect((await releaseLease(inside, old))._unsafeUnwrap()).toBe('superseded');
        await trx.updateTable('tasks').set({ note: 'still here' }).where('id', '=', 2).execute();
      });
      const note = await site.db.selectFrom('tasks').select('note').where('id', '=', 2).executeTakeFirst();
      expect(note).toEqual({ note: 'still here' });
    });

    test('takes over a dead lease, or leaves it as it was when it is rolled back', async () => {
      const holder = site.process();
      (await acquireLease(holder.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(1);
      const before = await site.leases();
      const { db, ownership } = site.process();
      const rolledBack = db.transaction().execute(async (trx) => {
        expect((await acquireLease(ownership.using(trx), { taskId: 1, actor: 'reaper' })).isOk()).toBe(true);
        throw new RolledBack();
      });
      await expect(rolledBack).rejects.toBeInstanceOf(RolledBack);
      expect(await site.leases()).toEqual(before);
      await db.transaction().execute(async (trx) => {
        expect((await reclaimStaleLeases(ownership.using(trx)))._unsafeUnwrap().reclaimed).toMatchObject([
          { taskId: 1 },
        ]);
        expect((await inspectLease(ownership.using(trx), 1))._unsafeUnwrap()).toEqual({ state: 'free' });
      });
      expect(await site.leases()).toEqual([]);
    });

    test('gives a lease back only if it commits', async () => {
      const process = site.process({ lease: TIMES });
      const { db, ownership } = process;
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const rolledBack = db.transaction().execute(async (trx) => {
        expect((await releaseLease(ownership.using(trx), lease))._unsafeUnwrap()).toBe('released');
        throw new RolledBack();
      });
      await expect(rolledBack).rejects.toBeInstanceOf(RolledBack);
      expect(await site.leases()).toMatchObject([{ claim: lease.claim }]);
      await process.renewed(1);
      expect(lease.signal.aborted).toBe(false);
      await db.transaction().execute(async (trx) => {
        expect((await releaseLease(ownership.using(trx), lease))._unsafeUnwrap()).toBe('released');
      });
      expect(await site.leases()).toEqual([]);
      expect((await acquireLease(ownership, { taskId: 1, actor: 'reaper' })).isOk()).toBe(true);
    });

    test('refuses to run a handler', async () => {
      const { db, ownership } = site.process();
      await db.transaction().execute(async (trx) => {
        expect(() => withTransitionLease(ownership.using(trx), { taskId: 1, actor: 'monitor' }, () => 1)).toThrow(
          TypeError,
        );
      });
    });
  });

  describe('ownedBy', () => {
    test('fences any statement of the caller', async () => {
      const { db, ownership } = site.process();
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const write = async (note: string): Promise<string | null | undefined> => {
        await db.updateTable('tasks').set({ note }).where('id', '=', 1).where(ownedBy(ownership, lease)).execute();
        return (await db.selectFrom('tasks').select('note').where('id', '=', 1).executeTakeFirst())?.note;
      };
      expect(await write('mine')).toBe('mine');
      await site.expire(1);
      expect(await write('expired, and nobody took it')).toBe('expired, and nobody took it');
      const other = site.process();
      (await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' }))._unsafeUnwrap();
      expect(await write('late')).toBe('expired, and nobody took it');
    });
  });
}
