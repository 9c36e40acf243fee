import { withTransitionLease } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';

const request = { taskId: 1, actor: 'finalizer', stage: 'deploy-staging' } as const;

/** What a handler does in a transaction of its own, where all share one connection. */
export const inside: Proofs = {
  'held.using: ensure tells what is left in the transaction, and renews nothing': async (rig) => {
    const a = rig.start('a');
    const done = withTransitionLease(a.own(), request, (held) => {
      rig.time.freeze(10_000);
      const [before] = rig.leases();
      return a.db.transaction().execute(async (trx) => {
        expect(await err(held.using(trx).ensure(20_001))).toMatchObject({
          type: 'not-enough-time',
          remainingMs: 20_000,
        });
        expect(await ok(held.using(trx).ensure(20_000))).toMatchObject({ taskId: 1 });
        expect(rig.leases()).toEqual([before]);
      });
    });
    await ok(done);
  },

  'held.using: a lease that another owner has is lost inside too, and nothing is held against it before the end':
    async (rig) => {
      const a = rig.start('a');
      const done = withTransitionLease(a.own(), request, async (held) => {
        rig.run("update transition_lease set claim = 'another', owner = 'another'");
        await a.db.transaction().execute(async (trx) => {
          const superseded = { type: 'lease-lost', reason: 'superseded', holder: { actor: 'another' } };
          expect(await err(held.using(trx).ensure(0))).toMatchObject(superseded);
          expect(await err(held.using(trx).updateStage('done'))).toMatchObject(superseded);
        });
        expect(held.signal.aborted).toBe(false);
        rig.run(`update transition_lease set claim = '${held.claim}', owner = 'finalizer'`);
      });
      await ok(done);
    },

  'held.using: a stage write stands or falls with the transaction, and so does the release in it': async (rig) => {
    const a = rig.start('a');
    const done = withTransitionLease(a.own(), request, async (held) => {
      const back = a.db.transaction().execute(async (trx) => {
        await ok(held.using(trx).updateStage('deploy', { release: true }));
        throw new Error('rolled back');
      });
      await expect(back).rejects.toThrow('rolled back');
      expect(rig.leases()).toHaveLength(1);
      return a.db.transaction().execute(async (trx) => ok(held.using(trx).updateStage('done')));
    });
    expect(await ok(done)).toMatchObject({ from: 'deploy-staging', to: 'done' });
    expect(rig.read('select stage from tasks where id = 1')).toEqual([{ stage: 'done' }]);
  },
};
