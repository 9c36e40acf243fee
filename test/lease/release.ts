import { getEventListeners } from 'node:events';
import { acquireLease, acquireLeases, type Lease, releaseLease, releaseLeases } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import type { TestOwnership } from '../rig/rig.js';
import { TRIES } from '../rig/wire.js';

const DELETE = /^delete from "transition_lease"/;

/** Giving a lease back. */
export const release: Proofs = {
  'releaseLease deletes exactly its own row, stops its timer and forgets its claim': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const other = await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    expect(await ok(releaseLease(own, lease))).toBe('released');
    expect(rig.leases()).toMatchObject([{ claim: other.claim }]);
    expect(a.timers).toHaveLength(1);
    expect(await ok(releaseLease(own, other))).toBe('released');
    expect(rig.leases()).toEqual([]);
    expect(a.timers).toEqual([]);
    expect(a.registry.size).toBe(0);
    expect(a.told('lease.released')).toMatchObject([
      { taskId: 1, fencingToken: lease.fencingToken, provisional: false },
      { taskId: 2, fencingToken: other.fencingToken, provisional: false },
    ]);
  },

  'releaseLease a second time sends nothing and says so': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await ok(releaseLease(own, lease));
    const { length } = a.wire.sent;
    expect(await ok(releaseLease(own, lease))).toBe('already-released');
    expect(a.wire.sent).toHaveLength(length);
  },

  'releaseLease twice at once releases once': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const outcomes = await Promise.all([ok(releaseLease(own, lease)), ok(releaseLease(own, lease))]);
    expect(outcomes).toEqual(['released', 'already-released']);
    expect(a.told('lease.released')).toHaveLength(1);
  },

  'a release whose reply was lost, asked again, is already released: also after the TTL, and when others hold the task':
    async (rig) => {
      const b = rig.start('b').own();
      const again = {
        releaseLease: (own, lease) => ok(releaseLease(own, lease)),
        releaseLeases: async (own, lease) => (await ok(releaseLeases(own, [lease])))[0],
        'await using': async (_, lease) => {
          await lease[Symbol.asyncDispose]();
          return 'already-released';
        },
      } satisfies Record<string, (own: TestOwnership, lease: Lease<number>) => Promise<unknown>>;
      const firsts = {
        releaseLease: (own, lease) => err(releaseLease(own, lease)),
        releaseLeases: (own, lease) => err(releaseLeases(own, [lease])),
      } satisfies Record<string, (own: TestOwnership, lease: Lease<number>) => Promise<unknown>>;
      for (const [tried, first] of Object.entries(firsts)) {
        for (const [name, ask] of Object.entries(again)) {
          for (const meanwhile of ['nothing', 'a TTL', 'another owner'] as const) {
            const a = rig.start(`a ${tried} ${name} ${meanwhile}`);
            const own = a.own();
            const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
            const { signal } = lease;
            a.wire.fault(DELETE, 'reply-lost');
            expect(await first(own, lease)).toMatchObject({ type: 'store-failure', outcome: 'unknown' });
            a.wire.mend();
            const other =
              meanwhile === 'another owner' ? await ok(acquireLease(b, { taskId: 1, actor: 'b' })) : undefined;
            await rig.time.advance(meanwhile === 'nothing' ? 0 : 30_001);
            expect(await ask(own, lease)).toBe('already-released');
            expect([signal.aborted, a.told('lease.lost')]).toEqual([false, []]);
            expect(a.registry.size).toBe(0);
            if (other !== undefined) await ok(releaseLease(b, other));
            a.kill();
          }
        }
      }
    },

  'a release that may have arrived, and did not, is done when it is asked for again': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(DELETE, 'connection lost');
    expect(await err(releaseLease(own, lease))).toMatchObject({ outcome: 'unknown' });
    a.wire.mend();
    expect(await ok(releaseLease(own, lease))).toBe('released');
    expect(a.told('lease.released')).toHaveLength(1);
  },

  "releaseLease never deletes another's row, and losing is no error": async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lost = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(30_000);
    const taken = await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(await ok(releaseLease(own, lost))).toBe('superseded');
    expect(rig.leases()).toMatchObject([{ claim: taken.claim }]);
    expect(a.told('lease.released')).toEqual([]);
    expect(a.registry.size).toBe(0);
  },

  'releaseLease of an expired lease that nobody took deletes it, even late': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(86_400_000);
    expect(await ok(releaseLease(own, lease))).toBe('released');
    expect(rig.leases()).toEqual([]);
  },

  'a lease that ends is told with how long it was held': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const [given, taken] = [
      await ok(acquireLease(own, { taskId: 1, actor: 'monitor' })),
      await ok(acquireLease(own, { taskId: 2, actor: 'monitor', maxHoldMs: 5_000 })),
    ];
    await rig.time.advance(1_234);
    expect(await ok(releaseLease(own, given))).toBe('released');
    await rig.time.advance(5_000);
    expect(taken.signal.aborted).toBe(true);
    expect(a.told('lease.released')).toMatchObject([{ taskId: 1, heldMs: 1_234 }]);
    expect(a.told('lease.lost')).toMatchObject([{ taskId: 2, reason: 'over-budget', heldMs: 5_000 }]);
  },

  'releaseLease whose reply was lost has released': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(DELETE, 'reply-lost', 1);
    expect(await ok(releaseLease(own, lease))).toBe('released');
    expect(rig.leases()).toEqual([]);
  },

  'releaseLease waits out a database that is busy': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(DELETE, 'busy', 5);
    expect(await ok(releaseLease(own, lease))).toBe('released');
    expect(rig.time.slept).toHaveLength(5);
    expect(a.told('lease.release-failed')).toEqual([]);
  },

  'releaseLease of a lease known to be lost is not called released by a lost reply': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lost = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(30_000);
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    a.wire.fault(DELETE, 'reply-lost', 1);
    expect(await ok(releaseLease(own, lost))).toBe('superseded');
  },

  'releaseLease that fails tells it, ends renewal, and leaves an orphan that its own process takes at once': async (
    rig,
  ) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(DELETE, 'refused');
    expect(await err(releaseLease(own, lease))).toMatchObject({ type: 'store-failure', outcome: 'not-applied' });
    expect(a.told('lease.release-failed')).toMatchObject([{ taskId: 1, fencingToken: lease.fencingToken }]);
    expect(a.registry.size).toBe(0);
    expect(a.timers).toEqual([]);
    a.wire.mend();
    const next = await ok(acquireLease(own, { taskId: 1, actor: 'reaper' }));
    expect(a.told('lease.reclaimed')).toMatchObject([{ reason: 'orphaned', fencingToken: lease.fencingToken }]);
    expect(await ok(releaseLease(own, lease))).toBe('superseded');
    expect(rig.leases()).toMatchObject([{ claim: next.claim }]);
  },

  'releaseLease that failed may be tried again': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(DELETE, 'refused', TRIES);
    await err(releaseLease(own, lease));
    expect(await ok(releaseLease(own, lease))).toBe('released');
    expect(rig.leases()).toEqual([]);
  },

  'a lease is released when the block that holds it ends': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    {
      await using lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
      expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
    }
    expect(rig.leases()).toEqual([]);
  },

  'a block whose lease cannot be released ends all the same': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    {
      await using _lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
      a.wire.fault(DELETE, 'refused');
    }
    expect(a.told('lease.release-failed')).toHaveLength(1);
  },

  'releaseLeases gives many back and tells each in its order': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const { acquired } = await ok(
      acquireLeases(
        own,
        [1, 2, 3].map((taskId) => ({ taskId, actor: 'reconciler' })),
      ),
    );
    const [first, second, third] = acquired;
    if (first === undefined || second === undefined || third === undefined) throw new Error('three should be held');
    rig.run('delete from transition_lease where claim = ?', second.claim);
    const taken = await ok(acquireLease(b.own(), { taskId: 2, actor: 'reaper' }));
    await ok(releaseLease(own, third));
    expect(await ok(releaseLeases(own, [first, second, third, first]))).toEqual([
      'released',
      'superseded',
      'already-released',
      'already-released',
    ]);
    expect(rig.leases()).toMatchObject([{ claim: taken.claim }]);
    expect(a.registry.size).toBe(0);
    expect(a.timers).toEqual([]);
  },

  'releaseLeases gives back the leases of the call, whatever becomes of their list': async (rig) => {
    const own = rig.start('a').own();
    const requests = [1, 2].map((taskId) => ({ taskId, actor: 'monitor' }));
    const asked = acquireLeases(own, requests);
    requests.length = 0;
    const leases = [...(await ok(asked)).acquired];
    expect(leases).toHaveLength(2);
    const given = releaseLeases(own, leases);
    leases.length = 0;
    expect(await ok(given)).toEqual(['released', 'released']);
    expect(rig.leases()).toEqual([]);
  },

  'releaseLeases leaves a row with the same token and another claim alone': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const requests = [1, 2].map((taskId) => ({ taskId, actor: 'reconciler' }));
    const { acquired } = await ok(acquireLeases(own, requests));
    rig.run("update transition_lease set claim = 'of-another-life' where task_id = 1");
    expect(await ok(releaseLeases(own, acquired))).toEqual(['superseded', 'released']);
    expect(rig.leases()).toMatchObject([{ claim: 'of-another-life' }]);
  },

  'releaseLeases whose reply was lost has released': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const requests = [1, 2].map((taskId) => ({ taskId, actor: 'reconciler' }));
    const { acquired } = await ok(acquireLeases(own, requests));
    a.wire.fault(DELETE, 'reply-lost', 1);
    expect(await ok(releaseLeases(own, acquired))).toEqual(['released', 'released']);
    expect(rig.leases()).toEqual([]);
  },

  'releaseLeases that fails tells the leases of the statement that failed, and leaves their rows to expire': async (
    rig,
  ) => {
    const a = rig.start('a');
    const own = a.own();
    const requests = [1, 2].map((taskId) => ({ taskId, actor: 'reconciler' }));
    const { acquired } = await ok(acquireLeases(own, requests));
    a.wire.fault(DELETE, 'refused');
    expect(await err(releaseLeases(own, acquired))).toMatchObject({ type: 'store-failure' });
    // One statement gives both back, or one each: those of a statement that failed are in nobody's care.
    const told = a.told('lease.release-failed');
    expect(told.length).toBe(2 - a.claimed);
    expect(told[0]).toMatchObject({ taskId: 1 });
    expect(a.wire.matching(DELETE)).toHaveLength(TRIES);
    expect(rig.leases()).toHaveLength(2);
  },

  'releaseLease that finds its lease taken tells the loss, fires the signal and follows the request no more': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const asked = new AbortController();
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor', signal: asked.signal }));
    const { signal } = lease;
    rig.run('delete from transition_lease');
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(await ok(releaseLease(own, lease))).toBe('superseded');
    expect(a.told('lease.lost')).toMatchObject([{ taskId: 1, reason: 'superseded' }]);
    expect(signal.reason).toMatchObject({ type: 'lease-lost', reason: 'superseded' });
    expect(getEventListeners(asked.signal, 'abort')).toEqual([]);
    expect(a.registry.size).toBe(0);
    expect(a.timers).toEqual([]);
  },
};
