import {
  acquireLease,
  type ClaimRegistry,
  createTransitionOwnership,
  ensureSchema,
  releaseLease,
  withTransitionLease,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { tasks } from '../rig/rig.js';
import { settled } from '../rig/time.js';

const phases = (process: { registry: ReadonlyMap<string, { phase: string }> }) =>
  [...process.registry.values()].map(({ phase }) => phase);

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

  'equal claims in two lease tables are two claims': async (rig) => {
    const a = rig.start('a');
    const randomness = { claim: () => 'the-same', fraction: () => 0 };
    const [first, second] = ['first_lease', 'second_lease'].map((table) =>
      createTransitionOwnership({ db: a.db, tasks, ...a.ports, randomness, lease: { table } }),
    );
    if (first === undefined || second === undefined) throw new Error('there are two');
    for (const own of [first, second]) await ok(ensureSchema(own));
    const lease = await ok(acquireLease(first, { taskId: 1, actor: 'monitor' }));
    await ok(acquireLease(second, { taskId: 1, actor: 'monitor' }));
    expect(a.registry.size).toBe(2);
    await ok(releaseLease(first, lease));
    const asking = createTransitionOwnership({ db: a.db, tasks, ...a.ports, lease: { table: 'second_lease' } });
    expect(await err(acquireLease(asking, { taskId: 1, actor: 'reaper' }))).toMatchObject({
      reason: 'claim-registered',
    });
  },
};
