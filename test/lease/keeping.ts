import { sql } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  type Dialect,
  releaseLease,
  snapshot,
  sqliteDialect,
  withTransitionLease,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import type { Rig } from '../rig/rig.js';
import { settled } from '../rig/time.js';
import { TRIES } from '../rig/wire.js';

const RENEWAL = /^update "transition_lease"/;
const EXTENSION = /^update "transition_lease" set deadline_ms/;
const DELETE = /^delete from "transition_lease"/;
const TTL_MS = 30_000;
const TRUSTED_MS = 27_000;

/** Holding a lease. */
export const keeping: Proofs = {
  'a lease is renewed for as long as its process holds it, with no code of the holder': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    for (let minutes = 0; minutes < 40; minutes += 1) {
      await rig.time.advance(60_000);
      const [row] = rig.leases();
      const leftMs = Number(row?.['expires_ms']) - rig.time.databaseMs;
      expect(leftMs).toBeGreaterThan(TTL_MS / 2);
      expect(row).toMatchObject({ claim: lease.claim, fencing_token: lease.fencingToken, ttl_ms: TTL_MS });
    }
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    expect(lease.signal.aborted).toBe(false);
    expect(a.told('lease.renewed')).toHaveLength(240);
  },

  'a renewal moves nothing but the expiry': async (rig) => {
    const a = rig.start('a');
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor', stage: 'deploy-staging', runId: 7 }));
    const before = rig.leases();
    await rig.time.advance(10_000);
    expect(rig.leases()).toEqual(before.map((row) => ({ ...row, expires_ms: Number(row['expires_ms']) + 10_000 })));
  },

  'one timer and few statements renew any number of leases': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    expect(a.timers).toEqual([]);
    rig.addTasks(5_000);
    const requests = Array.from({ length: 5_000 }, (_, at) => ({ taskId: at + 1, actor: 'reconciler' }));
    await ok(acquireLeases(own, requests));
    expect(a.timers).toHaveLength(1);
    await rig.time.advance(10_000);
    expect(a.wire.matching(RENEWAL)).toHaveLength(10);
    expect(a.told('lease.renewed')).toHaveLength(5_000);
    expect(a.timers).toHaveLength(1);
  },

  'leases that are taken all the time put off no renewal': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    rig.addTasks(20);
    const { signal } = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    for (let taskId = 2; taskId < 20; taskId += 1) {
      await rig.time.advance(5_000);
      await ok(acquireLease(own, { taskId, actor: 'monitor' }));
    }
    expect(signal.aborted).toBe(false);
    expect(a.wire.matching(RENEWAL)).toHaveLength(9);
  },

  'a lease that is taken meanwhile puts off no loss of another': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const { signal } = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(RENEWAL, 'refused');
    await rig.time.advance(TRUSTED_MS - 1_000);
    await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    await rig.time.advance(1_000);
    expect(signal.reason).toMatchObject({ reason: 'unverifiable' });
  },

  'a renewal that fails for some leases renews the others': async (rig) => {
    const a = rig.start('a');
    rig.addTasks(600);
    const requests = Array.from({ length: 600 }, (_, at) => ({ taskId: at + 1, actor: 'reconciler' }));
    await ok(acquireLeases(a.own(), requests));
    a.wire.fault(RENEWAL, 'strange', 1);
    await rig.time.advance(10_000);
    expect(a.told('lease.renewal-failed')).toMatchObject([{ leases: 500 }]);
    expect(a.told('lease.renewed')).toHaveLength(100);
    await rig.time.advance(10_000);
    expect(a.told('lease.renewed')).toHaveLength(700);
  },

  'renewals are spread by chance, up to a tenth early': async (rig) => {
    const a = rig.start('a');
    a.chance = 0.999_999;
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(a.timers).toEqual([9_001]);
    await rig.time.advance(9_001);
    expect(a.told('lease.renewed')).toHaveLength(1);
  },

  'no timer runs before the first lease and after the last': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const first = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await ok(releaseLease(own, first));
    expect(a.timers).toEqual([]);
    await rig.time.advance(100_000);
    const again = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    expect(a.timers).toEqual([10_000]);
    await ok(releaseLease(own, again));
    expect(a.timers).toEqual([]);
    expect(a.wire.matching(RENEWAL)).toEqual([]);
  },

  'a renewal that fails is no loss: the next one makes it good': async (rig) => {
    const a = rig.start('a');
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    a.wire.fault(RENEWAL, 'refused', TRIES);
    await rig.time.advance(10_000);
    expect(a.told('lease.renewal-failed')).toMatchObject([{ leases: 1 }]);
    await rig.time.advance(10_000);
    expect(a.told('lease.renewed')).toHaveLength(1);
    await rig.time.advance(60_000);
    expect(lease.signal.aborted).toBe(false);
    expect(a.told('lease.lost')).toEqual([]);
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
  },

  'a holder that cannot verify its lease stops trusting itself a margin before others may take it': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const { signal } = lease;
    await rig.time.advance(10_000);
    a.wire.fault(RENEWAL, 'refused');
    await rig.time.advance(TRUSTED_MS - 1);
    expect(signal.aborted).toBe(false);
    await rig.time.advance(1);
    expect(signal.reason).toMatchObject({
      type: 'lease-lost',
      reason: 'unverifiable',
      taskId: 1,
      fencingToken: lease.fencingToken,
    });
    expect(a.told('lease.lost')).toMatchObject([{ taskId: 1, reason: 'unverifiable' }]);
    await rig.time.advance(TTL_MS - TRUSTED_MS - 1);
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    await rig.time.advance(1);
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
  },

  'a short TTL keeps a margin of 100 ms': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ lease: { ttlMs: 300, renewEveryMs: 100 } });
    const { signal } = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(RENEWAL, 'refused');
    await rig.time.advance(199);
    expect(signal.aborted).toBe(false);
    await rig.time.advance(1);
    expect(signal.reason).toMatchObject({ reason: 'unverifiable' });
  },

  'a holder on a machine that slept counts the time by its wall clock': async (rig) => {
    const a = rig.start('a');
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.suspend(TRUSTED_MS - 1);
    expect(lease.signal.aborted).toBe(false);
    rig.time.suspend(1);
    expect(lease.signal.reason).toMatchObject({ reason: 'unverifiable' });
  },

  'a renewal that was put off until the holder gave up is not sent, and prolongs no lost lease': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const [lost, kept] = [
      await ok(acquireLease(own, { taskId: 1, actor: 'monitor' })),
      await ok(acquireLease(own, { taskId: 2, actor: 'monitor', ttlMs: 120_000 })),
    ];
    const { signal } = lost;
    const before = rig.leases();
    a.wire.meanwhile(RENEWAL, async () => {
      rig.time.suspend(28_000);
      throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
    });
    await rig.time.advance(10_000);
    expect(signal.reason).toMatchObject({ type: 'lease-lost', reason: 'unverifiable' });
    const [row, other] = rig.leases();
    expect(row).toEqual(before[0]);
    expect(other).toMatchObject({ claim: kept.claim, expires_ms: rig.time.databaseMs + 120_000 });
    expect(a.told('lease.renewed').map(({ taskId }) => taskId)).toEqual([2]);
  },

  'a renewal that was put off until the lease was given up is not sent: its row is left to expire': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    const [before] = rig.leases();
    let released: unknown;
    a.wire.fault(DELETE, 'strange');
    a.wire.meanwhile(RENEWAL, async () => {
      released = err(releaseLease(own, lease));
      throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
    });
    await rig.time.advance(10_000);
    expect(await released).toMatchObject({ type: 'store-failure' });
    expect(a.wire.matching(RENEWAL)).toHaveLength(2);
    const [row, other] = rig.leases();
    expect(row).toEqual(before);
    expect(other).toMatchObject({ expires_ms: rig.time.databaseMs + TTL_MS });
  },

  'an extension that was put off until the lease was trusted no more is not sent again': async (rig) => {
    const a = rig.start('a');
    const before: unknown[] = [];
    const failed = await err(
      withTransitionLease(a.own(), { taskId: 1, actor: 'monitor' }, (held) => {
        before.push(...rig.leases());
        a.wire.meanwhile(EXTENSION, async () => {
          rig.time.suspend(TRUSTED_MS);
          throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
        });
        a.wire.fault(DELETE, 'refused');
        return held.extend(3_600_000 * 2);
      }),
    );
    expect(failed).toMatchObject({ type: 'lease-lost', reason: 'unverifiable' });
    expect(a.wire.matching(EXTENSION)).toHaveLength(1);
    expect(rig.leases()).toEqual(before);
  },

  'ensure that was put off until the lease was trusted no more is not sent again': async (rig) => {
    const a = rig.start('a');
    const before: unknown[] = [];
    const failed = await err(
      withTransitionLease(a.own(), { taskId: 1, actor: 'monitor' }, (held) => {
        before.push(...rig.leases());
        a.wire.meanwhile(RENEWAL, async () => {
          rig.time.suspend(TRUSTED_MS);
          throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
        });
        a.wire.fault(DELETE, 'refused');
        return held.ensure(1);
      }),
    );
    expect(failed).toMatchObject({ type: 'lease-lost', reason: 'unverifiable' });
    expect(a.wire.matching(RENEWAL)).toHaveLength(1);
    expect(rig.leases()).toEqual(before);
  },

  'a wall clock that is set back buys a holder no time': async (rig) => {
    const a = rig.start('a');
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(TRUSTED_MS - 1);
    rig.time.setWall(-3_600_000);
    expect(lease.signal.aborted).toBe(false);
    rig.time.freeze(1);
    expect(lease.signal.reason).toMatchObject({ reason: 'unverifiable' });
  },

  'a process that was stopped learns of its losses at its next call of the library, before anything else': async (
    rig,
  ) => {
    const a = rig.start('a');
    const own = a.own();
    const { signal } = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(TRUSTED_MS);
    expect(signal.aborted).toBe(false);
    const asked = snapshot(own);
    expect(signal.reason).toMatchObject({ reason: 'unverifiable' });
    await ok(asked);
  },

  'a process whose machine slept after many renewals learns of its losses at its next call too': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    for (const sleep of [rig.time.suspend.bind(rig.time), rig.time.freeze.bind(rig.time)]) {
      const { signal } = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
      await rig.time.advance(65_000);
      sleep(21_999);
      void (await snapshot(own));
      expect(signal.aborted).toBe(false);
      sleep(1);
      const asked = snapshot(own);
      expect(signal.reason).toMatchObject({ reason: 'unverifiable' });
      await ok(asked);
      rig.run('delete from transition_lease');
    }
  },

  'a hold ends at its bound: the signal fires, renewals stop, and no expiry ever reaches past it': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ lease: { maxHoldMs: 65_000 } });
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const { signal } = lease;
    await rig.time.advance(64_999);
    expect(signal.aborted).toBe(false);
    expect(rig.leases()).toMatchObject([{ expires_ms: lease.deadlineAtMs, deadline_ms: lease.deadlineAtMs }]);
    await rig.time.advance(1);
    expect(signal.reason).toMatchObject({ type: 'lease-lost', reason: 'over-budget' });
    const { length } = a.wire.matching(RENEWAL);
    await rig.time.advance(60_000);
    expect(a.wire.matching(RENEWAL)).toHaveLength(length);
    expect(a.timers).toEqual([]);
  },

  'a lease whose row somebody else took is lost, and its signal says to whom': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lost = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const kept = await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    const { signal } = lost;
    rig.run('delete from transition_lease where claim = ?', lost.claim);
    const taken = await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    await rig.time.advance(10_000);
    expect(signal.reason).toMatchObject({
      type: 'lease-lost',
      reason: 'superseded',
      fencingToken: lost.fencingToken,
      holder: { claim: taken.claim, actor: 'reaper' },
    });
    expect(a.told('lease.lost')).toMatchObject([{ taskId: 1, reason: 'superseded' }]);
    expect(kept.signal.aborted).toBe(false);
    await rig.time.advance(60_000);
    expect(kept.signal.aborted).toBe(false);
    expect(a.told('lease.lost')).toHaveLength(1);
  },

  'a renewal revives nothing: a lease whose row is gone is lost, and no row appears': async (rig) => {
    const a = rig.start('a');
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const { signal } = lease;
    rig.run('delete from transition_lease');
    await rig.time.advance(10_000);
    expect(signal.reason).toMatchObject({ type: 'lease-lost', reason: 'gone' });
    expect(rig.leases()).toEqual([]);
    expect(a.timers).toEqual([]);
  },

  'a row with the same token and another claim is not renewed: a restored backup supersedes': async (rig) => {
    const a = rig.start('a');
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const { signal } = lease;
    rig.run("update transition_lease set claim = 'of-another-life'");
    const [before] = rig.leases();
    await rig.time.advance(10_000);
    expect(signal.reason).toMatchObject({ reason: 'superseded', holder: { claim: 'of-another-life' } });
    expect(rig.leases()).toEqual([before]);
  },

  'one renewal is in flight at a time, and one that took long is followed by the next at once': async (rig) => {
    const a = rig.start('a');
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const held = a.wire.hold(RENEWAL);
    await rig.time.advance(22_000);
    expect(a.wire.matching(RENEWAL)).toHaveLength(1);
    held.letThrough();
    await settled();
    await rig.time.advance(1);
    expect(a.wire.matching(RENEWAL)).toHaveLength(2);
    expect(a.told('lease.renewed')).toHaveLength(2);
  },

  'renewals that each take longer than the interval follow each other at once, and nothing is lost': async (rig) => {
    const a = rig.start('a');
    const { signal } = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    for (let times = 0; times < 10; times += 1) {
      const held = a.wire.hold(RENEWAL);
      await rig.time.advance(12_000);
      await held.arrived;
      expect(Number(rig.leases()[0]?.['expires_ms']) - rig.time.databaseMs).toBeGreaterThan(TTL_MS / 4);
      held.letThrough();
      await settled();
      await rig.time.advance(1);
    }
    expect(signal.aborted).toBe(false);
    expect(a.told('lease.lost')).toEqual([]);
  },

  'a renewal that comes more than an interval late says so': async (rig) => {
    const a = rig.start('a');
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(20_250);
    await rig.time.advance(0);
    expect(a.told('lease.renewal-failed')).toEqual([
      {
        type: 'lease.renewal-failed',
        severity: 'warning',
        leases: 1,
        lateMs: 250,
        message: 'A renewal is sent more than an interval late.',
      },
    ]);
    expect(a.told('lease.renewed')).toHaveLength(1);
  },

  'a renewal that is answered more than an interval late says so': async (rig) => {
    const a = rig.start('a');
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const held = a.wire.hold(RENEWAL);
    await rig.time.advance(20_000);
    held.letThrough();
    await settled();
    expect(a.told('lease.renewal-failed')).toEqual([]);
    const again = a.wire.hold(RENEWAL);
    await rig.time.advance(10_250);
    again.letThrough();
    await settled();
    expect(a.told('lease.renewal-failed')).toMatchObject([
      { leases: 1, lateMs: 250, message: 'The reply to a renewal came more than an interval late.' },
    ]);
  },

  'a holder whose renewal hangs learns in time that it must stop': async (rig) => {
    const a = rig.start('a');
    const { signal } = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const held = a.wire.hold(RENEWAL);
    await rig.time.advance(TRUSTED_MS - 1);
    expect(signal.aborted).toBe(false);
    await rig.time.advance(1);
    expect(signal.reason).toMatchObject({ reason: 'unverifiable' });
    held.letThrough();
    await settled();
    expect(a.told('lease.renewed')).toEqual([]);
    expect(a.told('lease.lost')).toHaveLength(1);
  },

  'trust runs from the start of a renewal, not from its answer': async (rig) => {
    const a = rig.start('a');
    const { signal } = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const held = a.wire.hold(RENEWAL);
    await rig.time.advance(15_000);
    held.letThrough();
    await settled();
    a.wire.fault(RENEWAL, 'refused');
    await rig.time.advance(10_000 + TRUSTED_MS - 15_000 - 1);
    expect(signal.aborted).toBe(false);
    await rig.time.advance(1);
    expect(signal.reason).toMatchObject({ reason: 'unverifiable' });
  },

  'a lease that is taken while a renewal is in flight is renewed with the next': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const held = a.wire.hold(RENEWAL);
    await rig.time.advance(10_000);
    // The connection is busy with the renewal, so this one queues behind it.
    const asked = acquireLease(own, { taskId: 2, actor: 'monitor' });
    held.letThrough();
    const second = await ok(asked);
    await rig.time.advance(60_000);
    expect(second.signal.aborted).toBe(false);
    expect(rig.leases()).toHaveLength(2);
  },

  'a lease that is released while its renewal is in flight is released: nothing is revived and nothing lost': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const held = a.wire.hold(RENEWAL);
    await rig.time.advance(10_000);
    await held.arrived;
    const released = releaseLease(own.using(b.db), lease);
    expect(await ok(released)).toBe('released');
    held.letThrough();
    await settled();
    expect(rig.leases()).toEqual([]);
    expect(a.told('lease.lost')).toEqual([]);
    expect(a.timers).toEqual([]);
  },

  'a lease whose release is under way is not told as lost by a renewal that comes after it': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    let answered: () => void = () => {};
    b.wire.meanwhile(/^delete from "transition_lease"/, async (run) => {
      await run();
      await new Promise<void>((resolve) => {
        answered = resolve;
      });
    });
    const released = releaseLease(own.using(b.db), lease);
    await settled();
    expect(rig.leases()).toEqual([]);
    await rig.time.advance(10_000);
    expect(a.told('lease.lost')).toEqual([]);
    answered();
    expect(await ok(released)).toBe('released');
  },

  'an observer that throws, or rejects, disturbs no renewal': async (rig) => {
    const a = rig.start('a');
    const own = a.own({
      onEvent: ({ type }) => {
        if (type === 'lease.acquired') throw new Error('an observer in trouble');
        return Promise.reject(new Error('an observer in later trouble'));
      },
    });
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await rig.time.advance(120_000);
    expect(lease.signal.aborted).toBe(false);
    expect((await ok(snapshot(own))).counters).toMatchObject({ acquired: 1, renewed: 12 });
  },

  'a lease is renewed under every later mode': async (rig) => {
    let mode: 'on' | 'draining' | 'off' = 'on';
    const a = rig.start('a');
    const own = a.own({ mode: () => mode });
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    for (mode of ['draining', 'off'] as const) {
      await rig.time.advance(60_000);
      expect(lease.signal.aborted).toBe(false);
      expect(Number(rig.leases()[0]?.['expires_ms'])).toBeGreaterThan(rig.time.databaseMs);
    }
    expect(await ok(releaseLease(own, lease))).toBe('released');
    expect(rig.leases()).toEqual([]);
  },

  'a lease with a TTL of its own is judged by it, whatever its reader is configured with': async (rig) => {
    const [a, b] = [rig.start('a', { host: 'elsewhere' }), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor', ttlMs: 300_000 }));
    a.kill();
    const other = b.own({ lease: { ttlMs: 1_500, renewEveryMs: 500 } });
    rig.time.freeze(299_999);
    expect(await err(acquireLease(other, { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    rig.time.freeze(1);
    await ok(acquireLease(other, { taskId: 1, actor: 'reaper' }));
  },

  'a lease of thirty days neither ends nor wakes anything early': async (rig) => {
    const a = rig.start('a');
    const thirtyDaysMs = 30 * 86_400_000;
    const own = a.own({ lease: { ttlMs: thirtyDaysMs, renewEveryMs: thirtyDaysMs / 3, maxHoldMs: 4 * thirtyDaysMs } });
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    expect(a.timers).toEqual([thirtyDaysMs / 3]);
    await rig.time.advance(thirtyDaysMs / 3 - 1);
    expect(a.told('lease.renewed')).toEqual([]);
    await rig.time.advance(3 * thirtyDaysMs);
    expect(lease.signal.aborted).toBe(false);
  },

  'a database clock that is set back ends no lease of a living holder': async (rig) => {
    const a = rig.start('a');
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.databaseMs -= 3_600_000;
    await rig.time.advance(120_000);
    expect(lease.signal.aborted).toBe(false);
    expect(Number(rig.leases()[0]?.['expires_ms']) - rig.time.databaseMs).toBeGreaterThan(TTL_MS / 2);
  },

  'a database clock that jumps forward opens a lease to others: its owner is fenced and told at its next renewal':
    async (rig) => {
      const [a, b] = [rig.start('a'), rig.start('b')];
      const { signal } = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
      rig.time.databaseMs += TTL_MS;
      await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
      expect(signal.aborted).toBe(false);
      await rig.time.advance(10_000);
      expect(signal.reason).toMatchObject({ reason: 'superseded' });
    },
};

/** A database that can lock single rows, as servers do: a renewal passes over the tasks that stand in a table. */
const lockingDialect: Dialect = Object.freeze({
  ...sqliteDialect,
  updateUnlocked: (update: Parameters<Dialect['updateUnlocked']>[0]) =>
    sqliteDialect.updateUnlocked({
      ...update,
      condition: sql<boolean>`${update.condition} and task_id not in (select task_id from locked_tasks)`,
    }),
});

/** Rows that somebody has locked. */
export const locked: Proofs = {
  'a lease whose row is locked is not lost, starves no other, and is renewed soon after': async (rig) => {
    const { a, own } = lockable(rig);
    const stuck = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const other = await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    const { signal } = stuck;
    rig.run('insert into locked_tasks values (1)');
    await rig.time.advance(20_000);
    expect([signal.aborted, other.signal.aborted]).toEqual([false, false]);
    expect(a.told('lease.renewed').map(({ taskId }) => taskId)).toEqual([2, 2]);
    rig.run('delete from locked_tasks');
    await rig.time.advance(1_000);
    expect(a.told('lease.renewed').map(({ taskId }) => taskId)).toContain(1);
    await rig.time.advance(60_000);
    expect(signal.aborted).toBe(false);
    expect(a.told('lease.lost')).toEqual([]);
  },

  'a locked row is tried again at once and then ever more rarely, alone': async (rig) => {
    const { a, own } = lockable(rig);
    for (const taskId of [1, 2]) await ok(acquireLease(own, { taskId, actor: 'monitor' }));
    rig.run('insert into locked_tasks values (1)');
    await rig.time.advance(10_000);
    const again = () => a.wire.matching(RENEWAL).slice(1);
    await rig.time.advance(20);
    expect(again()).toHaveLength(1);
    expect(again().every(({ parameters }) => JSON.stringify(parameters).includes('a-1'))).toBe(true);
    expect(again().some(({ parameters }) => JSON.stringify(parameters).includes('a-2'))).toBe(false);
    await rig.time.advance(9_970);
    expect(again()).toHaveLength(14);
    rig.run('delete from locked_tasks');
    await rig.time.advance(30_000);
    expect(a.told('lease.lost')).toEqual([]);
  },

  'a lease whose row stays locked for too long is lost as unverifiable, and no other is': async (rig) => {
    const { own } = lockable(rig);
    const { signal } = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const other = await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    rig.run('insert into locked_tasks values (1)');
    await rig.time.advance(TRUSTED_MS - 1);
    expect(signal.aborted).toBe(false);
    await rig.time.advance(1);
    expect(signal.reason).toMatchObject({ reason: 'unverifiable' });
    await rig.time.advance(60_000);
    expect(other.signal.aborted).toBe(false);
  },

  'ensure of a locked row counts what it had left': async (rig) => {
    const { own } = lockable(rig);
    await ok(
      withTransitionLease(own, { taskId: 1, actor: 'monitor' }, async (lease) => {
        rig.time.freeze(5_000);
        rig.run('insert into locked_tasks values (1)');
        await ok(lease.ensure(25_000));
        expect(await err(lease.ensure(25_001))).toMatchObject({ type: 'not-enough-time', remainingMs: 25_000 });
        rig.time.freeze(21_999);
        expect(lease.signal.aborted).toBe(false);
        rig.time.freeze(1);
        expect(lease.signal.aborted).toBe(true);
      }),
    );
  },

  'no trust is taken from a row that was locked': async (rig) => {
    const { a, own } = lockable(rig);
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.run('insert into locked_tasks values (1)');
    await rig.time.advance(TRUSTED_MS);
    expect(lease.signal.aborted).toBe(true);
    expect(a.told('lease.renewed')).toEqual([]);
  },
};

function lockable(rig: Rig) {
  rig.run('create table locked_tasks (task_id integer primary key)');
  const { dialect = sqliteDialect } = rig.options;
  const a = rig.start('a', { dialect: { ...lockingDialect, returning: dialect.returning } });
  return { a, own: a.own() };
}
