import { getEventListeners } from 'node:events';
import {
  acquireLease,
  acquireLeases,
  releaseLease,
  snapshot,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { settled } from '../rig/time.js';

const closed = { type: 'not-granting', reason: 'closed' };
const INSERT = /^insert into "transition_lease"/;

/** The end of an ownership. */
export const closing: Proofs = {
  'close of an ownership that holds nothing ends at once and leaves no timer': async (rig) => {
    const a = rig.start('a');
    expect(await ok(a.own().close())).toEqual({ unfinished: [] });
    expect(a.timers).toEqual([]);
    expect(a.wire.sent).toEqual([]);
  },

  'after close nothing is granted, and everything else goes on': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await ok(own.close());
    expect(await err(acquireLease(own, { taskId: 1, actor: 'monitor' }))).toMatchObject(closed);
    expect(await err(acquireLeases(own, [{ taskId: 1, actor: 'monitor' }]))).toMatchObject(closed);
    let called = false;
    const asked = withTransitionLease(own, { taskId: 1, actor: 'monitor' }, () => {
      called = true;
    });
    expect(await err(asked)).toMatchObject(closed);
    expect(called).toBe(false);
    const off = a.own({ mode: 'off' });
    await ok(off.close());
    expect(await err(acquireLease(off, { taskId: 1, actor: 'monitor' }))).toMatchObject(closed);
    expect(a.wire.sent).toEqual([]);
    await ok(updateStageCas(own, { taskId: 1, expected: 'deploy-staging', next: 'deploy' }));
    await ok(snapshot(own));
  },

  'close fires the signals of running handlers and waits for them, renewing on': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const signals: AbortSignal[] = [];
    let finish: () => void = () => {};
    const handled = withTransitionLease(own, { taskId: 1, actor: 'monitor' }, async ({ signal }) => {
      signals.push(signal);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return 42;
    });
    await settled();
    let ended = false;
    const end = own.close({ deadlineMs: 300_000 }).map((report) => {
      ended = true;
      return report;
    });
    expect(signals.map(({ reason }) => reason as unknown)).toMatchObject([closed]);
    await rig.time.advance(120_000);
    expect(ended).toBe(false);
    expect(a.told('lease.renewed')).toHaveLength(12);
    finish();
    expect(await ok(handled)).toBe(42);
    expect(await ok(end)).toEqual({ unfinished: [] });
    expect(rig.leases()).toEqual([]);
    expect(a.timers).toEqual([]);
    expect(a.told('lease.lost')).toEqual([]);
  },

  'close fires the signal of a lease without a row, as of any other': async (rig) => {
    const a = rig.start('a');
    const off = a.own({ mode: 'off' });
    const given = await ok(acquireLease(off, { taskId: 3, actor: 'monitor' }));
    await ok(releaseLease(off, given));
    const ended = new Promise<unknown>((resolve) => {
      void withTransitionLease(off, { taskId: 1, actor: 'monitor' }, async ({ signal }) => {
        await new Promise((fired) => signal.addEventListener('abort', fired, { once: true }));
        resolve(signal.reason);
      });
    });
    await settled();
    await ok(off.close());
    expect(await ended).toMatchObject(closed);
    expect(given.signal.aborted).toBe(false);
    expect(a.wire.sent).toEqual([]);
  },

  'a lease without a row is kept by nobody before somebody asks for its signal, which then knows all': async (rig) => {
    const off = rig.start('a').own({ mode: 'off' });
    const callers = new AbortController();
    const other = new AbortController();
    const [first, second, third] = [
      await ok(acquireLease(off, { taskId: 1, actor: 'monitor', signal: callers.signal })),
      await ok(acquireLease(off, { taskId: 2, actor: 'monitor', signal: other.signal })),
      await ok(acquireLease(off, { taskId: 3, actor: 'monitor' })),
    ];
    expect(getEventListeners(callers.signal, 'abort')).toEqual([]);
    expect(first.signal.aborted).toBe(false);
    expect(getEventListeners(callers.signal, 'abort')).toHaveLength(1);
    callers.abort('enough');
    other.abort('enough');
    expect([first.signal.reason, second.signal.reason]).toEqual(['enough', 'enough']);
    await ok(off.close());
    expect(third.signal.reason).toMatchObject(closed);
    expect(third.signal.reason).toBe(third.signal.reason);
  },

  'close does not wait beyond its deadline: unfinished leases are told and left to expire, unrenewed': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    let finish: () => void = () => {};
    const handled = withTransitionLease(own, { taskId: 1, actor: 'monitor' }, async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return 42;
    });
    const short = withTransitionLease(own, { taskId: 2, actor: 'monitor' }, () => 'done');
    await settled();
    const end = own.close({ deadlineMs: 5_000 });
    await rig.time.advance(5_000);
    const [row] = rig.leases();
    expect(await ok(end)).toEqual({
      unfinished: [{ taskId: 1, fencingToken: row?.['fencing_token'], actor: 'monitor' }],
    });
    expect(await ok(short)).toBe('done');
    expect(a.timers).toEqual([]);
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    await rig.time.advance(24_999);
    expect(rig.leases()).toEqual([row]);
    finish();
    expect(await ok(handled)).toBe(42);
    expect(rig.leases()).toEqual([]);
    expect(a.registry.size).toBe(0);
  },

  'a lease that close left behind is no orphan: in its process too it ends by expiry': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const stubborn = withTransitionLease(own, { taskId: 1, actor: 'monitor' }, () => new Promise(() => {}));
    await settled();
    const end = own.close({ deadlineMs: 0 });
    await rig.time.advance(0);
    await ok(end);
    const other = a.own();
    expect(await err(acquireLease(other, { taskId: 1, actor: 'reaper' }))).toMatchObject({
      reason: 'claim-registered',
    });
    await rig.time.advance(30_000);
    const taken = await ok(acquireLease(other, { taskId: 1, actor: 'reaper' }));
    expect(a.told('lease.reclaimed')).toMatchObject([{ reason: 'expired' }]);
    expect(rig.leases()).toMatchObject([{ claim: taken.claim }]);
    void stubborn;
  },

  'close waits for an acquisition in flight, which is given back': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const held = a.wire.hold(INSERT);
    const asked = acquireLease(own, { taskId: 1, actor: 'monitor' });
    await held.arrived;
    let ended = false;
    const end = own.close().map(() => {
      ended = true;
    });
    await settled();
    expect(ended).toBe(false);
    held.letThrough();
    await ok(end);
    expect(rig.leases()).toEqual([]);
    expect(await err(asked)).toMatchObject(closed);
    expect(a.registry.size).toBe(0);
  },

  'close waits for acquisitions of many in flight, which are given back': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const held = a.wire.hold(INSERT);
    const asked = acquireLeases(
      own,
      [1, 2].map((taskId) => ({ taskId, actor: 'monitor' })),
    );
    await held.arrived;
    const end = own.close();
    held.letThrough();
    await ok(end);
    expect(rig.leases()).toEqual([]);
    expect(await err(asked)).toMatchObject(closed);
  },

  'close reports a lease that nobody handles, leaves it to expire, and lets it be released still': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    expect(await ok(own.close())).toEqual({
      unfinished: [{ taskId: 1, fencingToken: lease.fencingToken, actor: 'monitor' }],
    });
    expect(lease.signal.reason).toMatchObject(closed);
    expect(rig.leases()).toHaveLength(1);
    expect(await ok(releaseLease(own, lease))).toBe('released');
    expect(rig.leases()).toEqual([]);
    expect(a.registry.size).toBe(0);
  },

  'close twice, and by whichever handle, is one end': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const first = await ok(own.close());
    expect(await ok(own.close({ deadlineMs: 1 }))).toBe(first);
    expect(await ok(own.using(a.db).close())).toBe(first);
  },

  'an ownership closes when the block that holds it ends': async (rig) => {
    const a = rig.start('a');
    const owns = [];
    {
      await using own = a.own();
      owns.push(own);
      await ok(withTransitionLease(own, { taskId: 1, actor: 'monitor' }, () => 1));
    }
    for (const own of owns) expect(await err(acquireLease(own, { taskId: 1, actor: 'monitor' }))).toMatchObject(closed);
  },

  'close refuses a deadline that is none, and changes nothing': async (rig) => {
    const own = rig.start('a').own();
    for (const deadlineMs of [-1, Number.NaN, 1.5])
      expect(() => own.close({ deadlineMs })).toThrow(
        `deadlineMs must be a whole number of milliseconds from 0 to 31536000000, got ${deadlineMs}`,
      );
    await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
  },

  'no listener for signals of the process is ever installed': async (rig) => {
    const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
    const before = listeners();
    const own = rig.start('a').own();
    await ok(withTransitionLease(own, { taskId: 1, actor: 'monitor' }, () => rig.time.advance(60_000)));
    await ok(own.close());
    expect(listeners()).toEqual(before);
  },
};
