import {
  acquireLease,
  type ClaimRegistry,
  createTransitionOwnership,
  releaseLease,
  withTransitionLease,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { tasks } from '../rig/rig.js';
import { settled } from '../rig/time.js';

const phases = (process: { registry: ReadonlyMap<string, { phase: string }> }) =>
  [...new Set(process.registry.values())].map(({ phase }) => phase);

/** The claims of a process. */
export const registry: Proofs = {
  'a claim is known from before its insert is sent until its release is answered': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const insert = a.wire.hold(/^insert into "transition_lease"/);
    const asked = acquireLease(own, { taskId: 1, actor: 'monitor' });
    await insert.arrived;
    expect(phases(a)).toEqual(['acquiring']);
    insert.letThrough();
    const lease = await ok(asked);
    expect(phases(a)).toEqual(['held']);
    const deletion = a.wire.hold(/^delete from "transition_lease"/);
    const released = releaseLease(own, lease);
    await deletion.arrived;
    expect(phases(a)).toEqual(['releasing']);
    deletion.letThrough();
    await ok(released);
    expect(phases(a)).toEqual([]);
  },

  'a claim is known for as long as its handler runs, also after its lease was lost': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    let finish: () => void = () => {};
    const handled = withTransitionLease(own, { taskId: 1, actor: 'monitor' }, async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    await settled();
    a.wire.fault(/^update "transition_lease"/, 'refused');
    await rig.time.advance(27_000);
    expect(a.told('lease.lost')).toHaveLength(1);
    expect(await err(acquireLease(own, { taskId: 1, actor: 'reaper' }))).toMatchObject({ reason: 'claim-registered' });
    finish();
    await ok(handled);
    expect(a.registry.size).toBe(0);
  },

  'all ownerships of one process share its claims: a lease of one is alive to the other': async (rig) => {
    const a = rig.start('a');
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(await err(acquireLease(a.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({
      verdict: 'live',
      reason: 'claim-registered',
    });
  },

  'processes that share every part of their identity, as clones do, take nothing from each other before expiry': async (
    rig,
  ) => {
    const identity = { bootId: 'b', pid: 9, start: 's', host: 'h' };
    const shared: ClaimRegistry = new Map();
    const [a, b] = [rig.start('a', identity), rig.start('b', identity)];
    await ok(acquireLease(a.own({ registry: shared }), { taskId: 1, actor: 'monitor' }));
    expect(await err(acquireLease(b.own({ registry: shared }), { taskId: 1, actor: 'monitor' }))).toMatchObject({
      type: 'lease-busy',
    });
    expect(rig.leases()).toHaveLength(1);
  },

  'a lease is live to an ownership of the same process that spells its table another way': async (rig) => {
    const a = rig.start('a');
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    for (const lease of [
      { schema: 'main' },
      { table: 'Transition_Lease' },
      { schema: 'MAIN', table: 'TRANSITION_LEASE' },
    ]) {
      const own = createTransitionOwnership({ db: a.db, tasks, ...a.ports, lease });
      expect(await err(acquireLease(own, { taskId: 1, actor: 'reaper' }))).toMatchObject({
        verdict: 'live',
        reason: 'claim-registered',
      });
    }
  },

  'a claim is known to version 0.1.0 in the same process, and its claims are known': async (rig) => {
    const a = rig.start('a');
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const earlier = `.transition_lease/${lease.claim}`;
    expect([...a.registry.keys()]).toEqual([lease.claim, earlier]);
    expect(a.registry.get(earlier)).toBe(a.registry.get(lease.claim));
    // As if that version had acquired it, and as if its handler had ended.
    a.registry.delete(lease.claim);
    const other = a.own();
    expect(await err(acquireLease(other, { taskId: 1, actor: 'reaper' }))).toMatchObject({
      reason: 'claim-registered',
    });
    a.registry.delete(earlier);
    expect(await ok(acquireLease(other, { taskId: 1, actor: 'reaper' }))).toMatchObject({ actor: 'reaper' });
  },
};
