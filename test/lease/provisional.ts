import { acquireLease, acquireLeases, releaseLease, releaseLeases, updateStageCas } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { settled } from '../rig/time.js';

const RENEWAL = /^update "transition_lease"/;

/** Leases in a caller's transaction. */
export const provisional: Proofs = {
  'acquireLease in a transaction is provisional: a commit makes it a lease like any other': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await a.db
      .transaction()
      .execute((trx) => ok(acquireLease(own.using(trx), { taskId: 1, actor: 'monitor' })));
    expect(a.told('lease.acquired')).toMatchObject([{ provisional: true, guarded: true }]);
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    await rig.time.advance(120_000);
    expect(lease.signal.aborted).toBe(false);
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    expect(await ok(releaseLease(own, lease))).toBe('released');
  },

  'acquireLease in a transaction that is rolled back holds nothing: the task is free at once': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await rolledBack(a.db, (trx) => ok(acquireLease(own.using(trx), { taskId: 1, actor: 'monitor' })));
    expect(rig.leases()).toEqual([]);
    const taken = await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(await ok(releaseLease(own, lease))).toBe('superseded');
    expect(rig.leases()).toMatchObject([{ claim: taken.claim }]);
  },

  'a lease whose transaction was rolled back is void: its signal fires, nothing is kept of it': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await rolledBack(a.db, (trx) => ok(acquireLease(own.using(trx), { taskId: 1, actor: 'monitor' })));
    const { signal } = lease;
    await rig.time.advance(26_999);
    expect(signal.aborted).toBe(false);
    await rig.time.advance(1);
    expect(signal.reason).toMatchObject({ type: 'lease-lost', reason: 'unverifiable' });
    expect(a.registry.size).toBe(0);
    expect(a.timers).toEqual([]);
  },

  'a provisional lease is judged by its times alone until its commit was seen': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await a.db.transaction().execute((trx) => ok(acquireLease(own.using(trx), { taskId: 1, actor: 'monitor' })));
    const ask = () => err(acquireLease(own, { taskId: 1, actor: 'reaper' }));
    expect(await ask()).toMatchObject({ verdict: 'live', reason: 'unexpired' });
    await rig.time.advance(10_000);
    expect(await ask()).toMatchObject({ verdict: 'live', reason: 'claim-registered' });
  },

  'a fenced stage write and its release go with the transaction that the lease was taken in': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy' } as const;
    await a.db.transaction().execute(async (trx) => {
      const inside = own.using(trx);
      const lease = await ok(acquireLease(inside, { taskId: 1, actor: 'webhook' }));
      await ok(updateStageCas(inside, { ...move, lease }));
      expect(await ok(releaseLease(inside, lease))).toBe('released');
    });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy' });
    expect(rig.leases()).toEqual([]);
    await rig.time.advance(20_000);
    expect(a.registry.size).toBe(0);
    expect(a.timers).toEqual([]);
    expect(a.told('lease.lost')).toEqual([]);
  },

  'releaseLease in a transaction goes with its commit, and absence then means released': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await a.db.transaction().execute(async (trx) => {
      expect(await ok(releaseLease(own.using(trx), lease))).toBe('released');
    });
    expect(a.told('lease.released')).toMatchObject([{ provisional: true }]);
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    await rig.time.advance(10_000);
    expect(lease.signal.aborted).toBe(false);
    expect(a.told('lease.lost')).toEqual([]);
    expect(a.registry.size).toBe(0);
    expect(a.timers).toEqual([]);
    await rig.time.advance(60_000);
    expect(lease.signal.aborted).toBe(false);
    expect(await ok(releaseLease(own, lease))).toBe('already-released');
  },

  'releaseLease after a release whose transaction committed knows it, without waiting for a renewal': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await a.db.transaction().execute((trx) => ok(releaseLease(own.using(trx), lease)));
    expect(await ok(releaseLease(own, lease))).toBe('already-released');
    expect(a.registry.size).toBe(0);
    expect(a.timers).toEqual([]);
    const { length } = a.wire.sent;
    expect(await ok(releaseLease(own, lease))).toBe('already-released');
    expect(a.wire.sent).toHaveLength(length);
    await rig.time.advance(60_000);
    expect(lease.signal.aborted).toBe(false);
  },

  'releaseLease in a transaction that is rolled back has released nothing: the lease is held and renewed': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await rolledBack(a.db, async (trx) => {
      expect(await ok(releaseLease(own.using(trx), lease))).toBe('released');
      expect(await ok(releaseLease(own.using(trx), lease))).toBe('already-released');
    });
    await rig.time.advance(120_000);
    expect(lease.signal.aborted).toBe(false);
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    expect(await ok(releaseLease(own, lease))).toBe('released');
    expect(rig.leases()).toEqual([]);
  },

  'a loss after a release that was rolled back is told like any other': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const { signal } = lease;
    await rolledBack(a.db, (trx) => ok(releaseLease(own.using(trx), lease)));
    await rig.time.advance(10_000);
    rig.run('delete from transition_lease');
    const taken = await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    await rig.time.advance(10_000);
    expect(signal.reason).toMatchObject({ type: 'lease-lost', reason: 'superseded', holder: { claim: taken.claim } });
    expect(await ok(releaseLease(own, lease))).toBe('superseded');
  },

  'a release that fails in a transaction fails with it: the lease goes on': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await rolledBack(a.db, async (trx) => {
      a.wire.fault(/^delete from "transition_lease"/, 'busy', 1);
      expect(await err(releaseLease(own.using(trx), lease))).toMatchObject({ type: 'store-failure', kind: 'busy' });
    });
    expect(a.told('lease.release-failed')).toHaveLength(1);
    await rig.time.advance(60_000);
    expect(lease.signal.aborted).toBe(false);
    expect(await err(acquireLease(own, { taskId: 1, actor: 'reaper' }))).toMatchObject({ reason: 'claim-registered' });
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    expect(await ok(releaseLease(own, lease))).toBe('released');
  },

  'nothing is tried again inside a transaction of the caller': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await rolledBack(a.db, async (trx) => {
      a.wire.fault(/^insert into "transition_lease"/, 'busy');
      expect(await err(acquireLease(own.using(trx), { taskId: 1, actor: 'monitor' }))).toMatchObject({
        kind: 'busy',
        retryable: true,
        outcome: 'not-applied',
      });
    });
    expect(a.wire.matching(/^insert into "transition_lease"/)).toHaveLength(1);
    expect(rig.time.slept).toEqual([]);
  },

  'nothing is looked for inside a transaction whose connection broke': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    for (const fault of ['reply-lost', 'strange'] as const)
      await rolledBack(a.db, async (trx) => {
        a.wire.fault(/^insert into "transition_lease"/, fault, 2);
        const unknown = { type: 'store-failure', outcome: 'unknown' };
        expect(await err(acquireLease(own.using(trx), { taskId: 1, actor: 'monitor' }))).toMatchObject(unknown);
        expect(await err(acquireLeases(own.using(trx), [{ taskId: 2, actor: 'monitor' }]))).toMatchObject(unknown);
      });
    expect(a.wire.matching(/^select .* (from|join) "transition_lease"/s)).toEqual([]);
    expect(a.registry.size).toBe(0);
  },

  'losing in a transaction leaves it usable': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const own = b.own();
    await b.db.transaction().execute(async (trx) => {
      await trx.updateTable('tasks').set({ note: 'before' }).where('id', '=', 2).execute();
      expect(await err(acquireLease(own.using(trx), { taskId: 1, actor: 'reaper' }))).toMatchObject({
        type: 'lease-busy',
      });
      await trx.updateTable('tasks').set({ note: 'after' }).where('id', '=', 3).execute();
    });
    expect([rig.task(2)?.['note'], rig.task(3)?.['note']]).toEqual(['before', 'after']);
  },

  'acquireLeases and releaseLeases in a transaction go with it': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const requests = [1, 2].map((taskId) => ({ taskId, actor: 'reconciler' }));
    await rolledBack(a.db, (trx) => ok(acquireLeases(own.using(trx), requests)));
    expect(rig.leases()).toEqual([]);
    const { acquired } = await a.db.transaction().execute((trx) => ok(acquireLeases(own.using(trx), requests)));
    expect(rig.leases()).toHaveLength(2);
    await rolledBack(a.db, (trx) => ok(releaseLeases(own.using(trx), acquired)));
    expect(rig.leases()).toHaveLength(2);
    await a.db.transaction().execute((trx) => ok(releaseLeases(own.using(trx), acquired)));
    expect(rig.leases()).toEqual([]);
  },

  'a renewal waits for the open transaction of its connection, and renews when that ends': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await a.db.transaction().execute(async (trx) => {
      await trx.updateTable('tasks').set({ note: 'x' }).where('id', '=', 1).execute();
      await rig.time.advance(15_000);
      expect(a.wire.matching(RENEWAL)).toEqual([]);
      expect(lease.signal.aborted).toBe(false);
    });
    await settled();
    expect(a.wire.matching(RENEWAL)).toHaveLength(1);
    expect(a.told('lease.renewed')).toHaveLength(1);
  },
};

type Db = Parameters<Proofs[string]>[0] extends { start(name: string): { db: infer D } } ? D : never;
type Trx = Parameters<Parameters<ReturnType<Db['transaction']>['execute']>[0]>[0];

/** Does something in a transaction, and takes it all back. */
async function rolledBack<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  const trx = await db.startTransaction().execute();
  const done = await work(trx);
  await trx.rollback().execute();
  return done;
}
