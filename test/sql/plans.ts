import {
  acquireLease,
  acquireLeases,
  forceReleaseLease,
  reclaimStaleLeases,
  releaseLease,
  releaseLeases,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';

/** How statements find their rows. */
export const plans: Proofs = {
  'every statement finds the rows that it names by an index, however many there are': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const [own, other] = [a.own(), b.own()];
    const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy' } as const;
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await err(acquireLease(other, { taskId: 1, actor: 'reaper' }));
    await err(updateStageCas(other, move));
    await ok(updateStageCas(own, { ...move, lease }));
    await err(updateStageCas(own, { ...move, lease }));
    await ok(updateStageCas(other, { ...move, taskId: 2, evenIfHeld: true }));
    await ok(updateStageCas(b.own({ mode: 'off' }), move));
    await rig.time.advance(10_000);
    await ok(acquireLeases(other, [{ taskId: 1, actor: 'reconciler' }]));
    const { acquired } = await ok(acquireLeases(other, [{ taskId: 3, actor: 'reconciler' }]));
    await ok(releaseLeases(other, acquired));
    rig.time.databaseMs -= 86_400_000;
    await err(acquireLease(other, { taskId: 1, actor: 'reaper' }));
    rig.time.databaseMs += 86_400_000;
    const order = { taskId: 1, fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'drill' };
    await ok(forceReleaseLease(other, order));
    await ok(releaseLease(own, lease));
    await ok(
      withTransitionLease(own, { taskId: 3, actor: 'monitor' }, (held) =>
        a.db.transaction().execute((trx) => ok(held.using(trx).ensure(0))),
      ),
    );
    await ok(
      withTransitionLease(own, { taskId: 3, actor: 'monitor', maxHoldMs: 60_000 }, (held) => held.extend(90_000)),
    );
    await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    rig.time.freeze(30_000);
    await ok(reclaimStaleLeases(other, { taskIds: [2] }));

    const sent = new Map([...a.wire.sent, ...b.wire.sent].map((statement) => [statement.sql, statement]));
    const scans = [...sent.values()].flatMap(({ sql, parameters }) => {
      if (!/^(insert|select|update|delete)/.test(sql)) return [];
      const { mutate = (text: string) => text } = rig.options;
      const plan = rig.read(`explain query plan ${mutate(sql)}`, ...parameters);
      const scanned = plan.filter(({ detail }) => /^SCAN (transition_lease|tasks)/.test(String(detail)));
      return scanned.map(() => sql);
    });
    expect(scans).toEqual([]);
  },
};
