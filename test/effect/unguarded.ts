import { acquireLease, type Mode, NotApplied, runEffect, withTransitionLease } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { begin, journal, journalled, Outside, take } from './outside.js';

/** What running an effect does where nothing is guarded. */
export const unguarded: Proofs = {
  'under off runEffect just applies, every time, and sends no statement': async (rig) => {
    const a = rig.start('a');
    const own = await journalled(a, { mode: 'off' });
    const lease = await take(own);
    const outside = new Outside();
    a.wire.sent.length = 0;
    const probe = outside.look;
    for (let times = 1; times <= 2; times += 1)
      expect(await ok(runEffect(own, lease, outside.merging({ probe })))).toEqual({
        status: 'applied',
        value: { sha: `merged-${times}` },
      });
    expect(a.wire.sent).toEqual([]);
    expect(outside.probed).toBe(0);
    expect(outside.applied[0]).toEqual({
      fencingToken: null,
      idempotencyKey: outside.applied[1]?.idempotencyKey,
      signal: lease.signal,
    });
    expect(a.told('effect.applied')).toMatchObject([{ fencingToken: null }, { fencingToken: null }]);
    expect(a.told('effect.started')).toEqual([]);
  },

  'the idempotency key is the same under off as under on': async (rig) => {
    const a = rig.start('a');
    const outside = new Outside();
    for (const mode of ['off', 'on'] as const) {
      const own = await journalled(a, { mode });
      await ok(runEffect(own, await take(own), outside.merging()));
    }
    const bare = a.own({ mode: 'off' });
    await ok(runEffect(bare, await take(bare), outside.merging()));
    expect(new Set(outside.applied.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  },

  'out of scope, and without a journal, runEffect just applies': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ scope: ({ context }) => context !== 'elsewhere' });
    const outside = new Outside();
    expect(await ok(runEffect(own, await take(own, 1, 'elsewhere'), outside.merging()))).toMatchObject({
      status: 'applied',
    });
    const journalless = await take(own, 2);
    expect(() => runEffect(own, journalless, outside.merging())).toThrow(
      new TypeError('runEffect needs an ownership with the option effects'),
    );
    expect(outside.applied).toHaveLength(1);
  },

  'under off an apply that throws is unknown all the same, unless it threw NotApplied': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ mode: 'off' });
    const lease = await take(own);
    const outside = new Outside();
    const cause = new Error('hang up');
    expect(await err(runEffect(own, lease, outside.merging({ apply: () => Promise.reject(cause) })))).toMatchObject({
      type: 'effect-unknown',
      cause,
    });
    const refusal = new NotApplied('refused');
    expect(await err(runEffect(own, lease, outside.merging({ apply: () => Promise.reject(refusal) })))).toMatchObject({
      type: 'effect-failed',
      cause: refusal,
    });
    expect(a.told('effect.unknown')).toHaveLength(1);
  },

  'a guarded lease is journalled under every later mode': async (rig) => {
    const a = rig.start('a');
    let mode: Mode = 'on';
    const { own, lease, outside } = await begin(a, { mode: () => mode });
    for (const later of ['draining', 'off'] as const) {
      mode = later;
      expect(await ok(runEffect(own, lease, outside.merging({ key: later })))).toMatchObject({ status: 'applied' });
    }
    expect(journal(rig)).toMatchObject([{ key: 'draining' }, { key: 'off' }]);
  },

  'held.runEffect just applies under off': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ mode: 'off' });
    const outside = new Outside();
    const request = { taskId: 1, actor: 'finalizer' };
    const done = await ok(withTransitionLease(own, request, (held) => held.runEffect(outside.merging())));
    expect(done).toMatchObject({ status: 'applied' });
  },

  'runEffect refuses a lease that was granted although the store failed, before any statement': async (rig) => {
    const a = rig.start('a');
    const own = await journalled(a);
    const outside = new Outside();
    a.wire.fault(/transition_lease/, 'refused');
    const request = { taskId: 1, actor: 'finalizer', ifStoreFails: 'proceed-unguarded' } as const;
    const lease = await ok(acquireLease(own, request));
    a.wire.mend();
    a.wire.sent.length = 0;
    expect(() => runEffect(own, lease, outside.merging())).toThrow(
      new TypeError('runEffect needs a lease with a row: this one was granted although the store failed'),
    );
    expect(a.wire.sent).toEqual([]);
    expect(outside.applied).toEqual([]);
  },
};
