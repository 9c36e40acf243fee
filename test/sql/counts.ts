import type { Result } from 'neverthrow';
import {
  acquireLease,
  acquireLeases,
  forceReleaseLease,
  inspectLease,
  reclaimStaleLeases,
  releaseLease,
  releaseLeases,
  shouldDefer,
  snapshot,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { expect } from 'vitest';
import { ok, type Proofs } from '../rig/proofs.js';
import type { TestProcess } from '../rig/rig.js';

/** The kinds of the statements that a process sent meanwhile: `insert`, `select`, … */
async function kinds<T, E>(
  { wire }: TestProcess,
  work: () => PromiseLike<Result<T, E>> | Promise<T>,
): Promise<string[]> {
  const from = wire.sent.length;
  void (await work());
  return wire.sent.slice(from).map(({ sql }) => sql.split(' ', 1)[0] ?? '');
}

const request = { taskId: 1, actor: 'monitor', stage: 'deploy-staging' } as const;
const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy' } as const;

/** How many statements each verb sends. */
export const counts: Proofs = {
  'one statement takes a free lease, and one gives it back': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    for (const stage of ['deploy-staging', undefined] as const) {
      const both = () => acquireLease(own, { ...request, stage }).andThen((lease) => releaseLease(own, lease));
      expect(await kinds(a, () => ok(both()))).toEqual(['insert', 'delete']);
    }
  },

  'one statement moves a stage, with a lease and without': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    expect(await kinds(a, () => ok(updateStageCas(own, move)))).toEqual(['update']);
    const lease = await ok(acquireLease(own, { ...request, stage: 'deploy' }));
    const back = { taskId: 1, expected: 'deploy', next: 'deploy-staging', lease } as const;
    expect(await kinds(a, () => ok(updateStageCas(own, back)))).toEqual(['update']);
  },

  'a whole transition is three statements, or one and a transaction of two': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const three = () => withTransitionLease(own, request, (held) => held.updateStage('deploy'));
    expect(await kinds(a, () => ok(three()))).toEqual(['insert', 'update', 'delete']);
    const later = { ...request, stage: 'deploy' } as const;
    const released = () => withTransitionLease(own, later, (held) => held.updateStage('done', { release: true }));
    expect(await kinds(a, () => ok(released()))).toEqual(['insert', 'begin', 'update', 'delete', 'commit']);
  },

  'one statement takes two hundred leases, one renews them, and one gives them back': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    rig.addTasks(200);
    const requests = Array.from({ length: 200 }, (_, at) => ({ taskId: at + 1, actor: 'reconciler' }));
    const { acquired } = await ok(acquireLeases(own, requests));
    expect(a.wire.sent).toHaveLength(1);
    expect(await kinds(a, () => rig.time.advance(10_000))).toEqual(['update']);
    expect(await kinds(a, () => ok(releaseLeases(own, acquired)))).toEqual(['delete']);
  },

  'one statement verifies a lease before an irreversible step': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own(), request, async (held) => {
        expect(await kinds(a, () => ok(held.ensure(1_000)))).toEqual(['update']);
      }),
    );
  },

  'one statement looks at one lease, at all leases, and at whether to defer': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    await ok(acquireLease(b.own(), request));
    expect(await kinds(a, () => ok(inspectLease(own, 1)))).toEqual(['select']);
    expect(await kinds(a, () => ok(shouldDefer(own, 1)))).toEqual(['select']);
    expect(await kinds(a, () => ok(snapshot(own)))).toEqual(['select']);
  },

  'two statements tell a busy task: what was tried, and who is in the way': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(b.own(), request));
    expect(await kinds(a, () => acquireLease(a.own(), request))).toEqual(['insert', 'select']);
  },

  'four statements take over from the dead: tried, looked, reclaimed, tried again': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(b.own(), request));
    b.kill();
    expect(await kinds(a, () => ok(acquireLease(a.own(), request)))).toEqual(['insert', 'select', 'delete', 'insert']);
  },

  'one statement looks for the dead, and one more reclaims each of them': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const other = b.own();
    for (const taskId of [1, 2, 3]) await ok(acquireLease(other, { taskId, actor: 'monitor' }));
    b.kill();
    expect(await kinds(a, () => ok(reclaimStaleLeases(a.own())))).toEqual(['select', 'delete', 'delete', 'delete']);
  },

  'two statements overrule an owner: looked, and removed exactly what was seen': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(b.own(), request));
    const order = { taskId: 1, fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'drill' };
    expect(await kinds(a, () => ok(forceReleaseLease(a.own(), order)))).toEqual(['select', 'delete']);
  },

  'three statements explain a lost race: what was tried, who holds the lease, where the stage is': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, request));
    const wrong = { ...move, expected: 'done', lease } as const;
    expect(await kinds(a, () => updateStageCas(own, wrong))).toEqual(['update', 'select', 'select']);
    expect(await kinds(a, () => updateStageCas(own, { ...wrong, lease: undefined }))).toEqual(['update', 'select']);
  },

  'no statement is sent by making an ownership, and none by a request that is refused': async (rig) => {
    const a = rig.start('a');
    const untyped = acquireLease as unknown as (...given: unknown[]) => unknown;
    const own = a.own();
    expect(() => untyped(own, { taskId: '1', actor: 'monitor' })).toThrow(TypeError);
    expect(a.wire.sent).toEqual([]);
    expect(a.timers).toEqual([]);
  },
};
