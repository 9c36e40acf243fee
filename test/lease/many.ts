import { acquireLease, acquireLeases } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { settled } from '../rig/time.js';
import { TRIES } from '../rig/wire.js';

const INSERT = /^insert into "transition_lease"/;
const READ = /^select .* join "transition_lease"/s;

const asking = (taskIds: readonly number[], more: object = {}) =>
  taskIds.map((taskId) => ({ taskId, actor: 'reconciler', ...more }));

/** Many leases in few statements. */
export const many: Proofs = {
  'acquireLeases takes what is free, tells what is not, each in the order of its request': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const other = await ok(acquireLease(a.own(), { taskId: 2, actor: 'monitor' }));
    const { acquired, busy } = await ok(acquireLeases(b.own(), asking([3, 2, 1])));
    expect(acquired.map(({ taskId }) => taskId)).toEqual([3, 1]);
    expect(acquired.every(Object.isFrozen)).toBe(true);
    expect(busy).toMatchObject([{ type: 'lease-busy', taskId: 2, holder: { claim: other.claim } }]);
    expect(rig.leases().map((row) => [row['task_id'], row['owner']])).toEqual([
      [2, 'monitor'],
      [1, 'reconciler'],
      [3, 'reconciler'],
    ]);
    expect(b.claimed).toBe(2);
  },

  'acquireLeases refuses what is not there or elsewhere, each on its own, and leaves nothing of it': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(b.own(), { taskId: 2, actor: 'monitor' }));
    b.kill();
    rig.addTasks(4);
    rig.run("update tasks set stage = 'done' where id in (2, 4)");
    const requests = asking([77, 1, 2, 4], { stage: 'deploy-staging' });
    const { acquired, busy, refused } = await ok(acquireLeases(a.own(), [...requests, ...asking([3])]));
    expect(acquired.map(({ taskId, stage }) => [taskId, stage])).toEqual([
      [1, 'deploy-staging'],
      [3, 'deploy-staging'],
    ]);
    expect(busy).toEqual([]);
    expect(refused).toMatchObject([
      { type: 'task-not-found', taskId: 77 },
      { type: 'lost-race', taskId: 2, expected: 'deploy-staging', actual: 'done' },
      { type: 'lost-race', taskId: 4, expected: 'deploy-staging', actual: 'done' },
    ]);
    expect(Object.isFrozen(refused)).toBe(true);
    expect(rig.leases().map((row) => row['task_id'])).toEqual([2, 1, 3]);
    expect([a.told('lease.reclaimed'), a.claimed]).toEqual([[], 2]);
  },

  'acquireLeases writes the same rows as acquireLease': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const request = { actor: 'reconciler', stage: 'deploy-staging', runId: 7 } as const;
    for (const maxHoldMs of [10_000, 60_000]) {
      const one = await ok(acquireLease(own, { ...request, taskId: 1, maxHoldMs }));
      const { acquired } = await ok(acquireLeases(own, [{ ...request, taskId: 2, maxHoldMs }]));
      const [first, second] = rig.leases();
      const same = { claim: '', task_id: 0, fencing_token: 0, acquired_at: '' };
      expect({ ...second, ...same }).toEqual({ ...first, ...same });
      const told = { claim: '', taskId: 0, fencingToken: 0 };
      expect({ ...acquired[0], ...told }).toEqual({ ...one, ...told });
      rig.run('delete from transition_lease');
    }
  },

  'acquireLeases inserts in the order of the ids, so that two such calls never wait in a ring': async (rig) => {
    const a = rig.start('a');
    rig.addTasks(200);
    await ok(acquireLeases(a.own(), asking([30, 4, 200, 1])));
    expect(rig.leases().map((row) => row['task_id'])).toEqual([1, 4, 30, 200]);
  },

  'acquireLeases that asks in vain writes nothing: it uses up no token': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const held = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    await ok(acquireLeases(b.own(), asking([1])));
    const next = await ok(acquireLease(a.own(), { taskId: 2, actor: 'monitor' }));
    expect(next.fencingToken).toBe(Number(held.fencingToken) + 1);
  },

  'acquireLeases of nothing is nothing, and sends nothing': async (rig) => {
    const a = rig.start('a');
    expect(await ok(acquireLeases(a.own(), []))).toEqual({ acquired: [], busy: [], refused: [] });
    expect(a.wire.sent).toEqual([]);
  },

  'acquireLeases takes thousands in a few statements, and they live as any other': async (rig) => {
    const a = rig.start('a');
    rig.addTasks(1_200);
    const ids = Array.from({ length: 1_200 }, (_, at) => at + 1);
    const { acquired, busy } = await ok(acquireLeases(a.own(), asking(ids)));
    expect([acquired.length, busy.length]).toEqual([1_200, 0]);
    expect(a.wire.matching(INSERT)).toHaveLength(3);
    await rig.time.advance(120_000);
    expect(acquired.filter(({ signal }) => signal.aborted)).toEqual([]);
  },

  'acquireLeases reclaims the dead among the holders and no other': async (rig) => {
    const [a, b, c] = [rig.start('a'), rig.start('b'), rig.start('c')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    await ok(acquireLease(c.own(), { taskId: 2, actor: 'monitor' }));
    a.kill();
    const { acquired, busy } = await ok(acquireLeases(b.own(), asking([1, 2, 3])));
    expect(acquired.map(({ taskId }) => taskId)).toEqual([1, 3]);
    expect(busy.map(({ taskId }) => taskId)).toEqual([2]);
    expect(b.told('lease.reclaimed')).toMatchObject([{ taskId: 1, reason: 'process-gone' }]);
  },

  'acquireLeases whose reply was lost finds its rows by their claims': async (rig) => {
    const a = rig.start('a');
    a.wire.fault(INSERT, 'reply-lost', 1);
    const { acquired } = await ok(acquireLeases(a.own(), asking([1, 2])));
    expect(rig.leases().map((row) => row['claim'])).toEqual(acquired.map(({ claim }) => claim));
    expect(a.claimed).toBe(2);
  },

  'acquireLeases whose insert broke in an unknown way finds its rows by their claims': async (rig) => {
    const a = rig.start('a');
    a.wire.meanwhile(INSERT, async (run) => {
      await run();
      throw new Error('an error of an unknown kind');
    });
    const { acquired } = await ok(acquireLeases(a.own(), asking([1, 2])));
    expect(acquired).toHaveLength(2);
  },

  'acquireLeases that fails gives back what it had taken': async (rig) => {
    const a = rig.start('a');
    rig.addTasks(700);
    const ids = Array.from({ length: 700 }, (_, at) => at + 1);
    a.wire.meanwhile(INSERT, (run) => run());
    a.wire.fault(INSERT, 'refused');
    expect(await err(acquireLeases(a.own(), asking(ids)))).toMatchObject({ type: 'store-failure', kind: 'connection' });
    expect(rig.leases()).toEqual([]);
    expect(a.registry.size).toBe(0);
    expect(a.timers).toEqual([]);
  },

  'acquireLeases writes nothing of what it asks for in vain: it uses up no token': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const { acquired } = await ok(acquireLeases(a.own(), asking([1, 2])));
    const { busy } = await ok(acquireLeases(b.own(), asking([2, 1])));
    expect(busy).toHaveLength(2);
    const next = await ok(acquireLease(b.own(), { taskId: 3, actor: 'reaper' }));
    expect(next.fencingToken).toBe(Math.max(...acquired.map((lease) => Number(lease.fencingToken))) + 1);
  },

  'acquireLeases of a store that fails in the middle grants nothing, and says where rows may be left': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const before = rig.leases();
    a.kill();
    for (const trouble of [READ, /^delete from "transition_lease" .*expires_ms/s]) {
      b.wire.fault(trouble, 'busy', TRIES);
      const failed = await err(acquireLeases(b.own(), asking([1, 2])));
      expect(failed).toMatchObject({ type: 'store-failure', kind: 'busy' });
      // Where an insert answers with counts, the row of the free task is known by reading alone.
      const left = rig.leases().filter((row) => row['task_id'] === 2);
      expect(failed).toMatchObject({ outcome: left.length === 0 ? 'not-applied' : 'unknown' });
      expect(rig.leases().filter((row) => row['task_id'] === 1)).toEqual(before);
      expect(b.registry.size).toBe(0);
      rig.run('delete from transition_lease where task_id = 2');
    }
  },

  'acquireLeases that cannot be told gives back the rows that it had left': async (rig) => {
    const a = rig.start('a');
    a.wire.meanwhile(INSERT, async (run) => {
      await run();
      rig.run('delete from transition_lease where task_id = 2');
      throw new Error('an error of an unknown kind');
    });
    expect(await err(acquireLeases(a.own(), asking([1, 2])))).toMatchObject({ outcome: 'unknown' });
    expect(rig.leases()).toEqual([]);
    expect(a.registry.size).toBe(0);
  },

  'acquireLeases proceeds unguarded where every request that was not answered chose so': async (rig) => {
    const a = rig.start('a');
    a.wire.fault(INSERT, 'refused');
    const { acquired } = await ok(acquireLeases(a.own(), asking([1, 2], { ifStoreFails: 'proceed-unguarded' })));
    expect(acquired).toMatchObject([
      { taskId: 1, guarded: false, fencingToken: null },
      { taskId: 2, guarded: false, fencingToken: null },
    ]);
    const mixed = [...asking([1], { ifStoreFails: 'proceed-unguarded' }), ...asking([2])];
    expect(await err(acquireLeases(a.own(), mixed))).toMatchObject({ type: 'store-failure' });
  },

  'acquireLeases grants nothing at all when one of its signals has fired, or fires meanwhile': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const aborted = { type: 'not-granting', reason: 'aborted' };
    const fired = [...asking([1]), ...asking([2], { signal: AbortSignal.abort() })];
    expect(await err(acquireLeases(own, fired))).toMatchObject(aborted);
    expect(a.wire.sent).toEqual([]);
    const controller = new AbortController();
    a.wire.meanwhile(INSERT, async (run) => {
      await run();
      controller.abort();
    });
    const firing = [...asking([1]), ...asking([2], { signal: controller.signal })];
    expect(await err(acquireLeases(own, firing))).toMatchObject(aborted);
    while (a.registry.size > 0) await settled();
    expect(rig.leases()).toEqual([]);
  },

  'acquireLeases gives up after a few tries on a task that changes hands under its eyes': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    for (let times = 0; times < 20; times += 1)
      b.wire.meanwhile(READ, async (run) => {
        rig.run('delete from transition_lease');
        await run();
        await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
      });
    const { acquired, busy } = await ok(acquireLeases(b.own(), asking([1])));
    expect([acquired, busy]).toMatchObject([[], [{ taskId: 1, holder: null, reason: 'contended' }]]);
    expect(b.registry.size).toBe(0);
  },

  'acquireLeases under a scope guards what is inside it and lets the rest go as before': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ scope: ({ context }) => context === 'guarded' });
    const requests = [...asking([1], { context: 'guarded' }), ...asking([2], { context: 'other' })];
    const { acquired } = await ok(acquireLeases(own, requests));
    expect(acquired.map(({ taskId, guarded }) => [taskId, guarded])).toEqual([
      [1, true],
      [2, false],
    ]);
    expect(rig.leases().map((row) => row['task_id'])).toEqual([1]);
  },

  'acquireLeases under draining grants nothing, whatever lies outside the scope': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ mode: 'draining', scope: ({ context }) => context === 'guarded' });
    const requests = [...asking([2], { context: 'other' }), ...asking([1], { context: 'guarded' })];
    expect(await err(acquireLeases(own, requests))).toMatchObject({ type: 'not-granting', reason: 'draining' });
    expect(a.told('lease.acquired')).toEqual([]);
    expect(a.wire.sent).toEqual([]);
  },
};
