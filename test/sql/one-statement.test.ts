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
import { beforeEach, describe, expect, test } from 'vitest';
import { ok } from '../rig/proofs.js';
import { openRig, type Rig, type TestOwnership, type TestProcess } from '../rig/rig.js';

let rig: Rig;
let a: TestProcess;
let b: TestProcess;
let own: TestOwnership;

beforeEach(async () => {
  rig = await openRig();
  [a, b] = [rig.start('a'), rig.start('b')];
  own = a.own();
  return () => rig[Symbol.asyncDispose]();
});

/** The kinds of the statements that were sent meanwhile: `insert`, `select`, … */
async function kinds(work: () => Promise<unknown>): Promise<string[]> {
  const from = a.wire.sent.length;
  await work();
  return a.wire.sent.slice(from).map(({ sql }) => sql.split(' ', 1)[0] ?? '');
}

const request = { taskId: 1, actor: 'monitor', stage: 'deploy-staging' } as const;
const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy' } as const;

describe('one statement', () => {
  test('takes a free lease, and one gives it back', async () => {
    expect(await kinds(() => ok(acquireLease(own, request).andThen((lease) => releaseLease(own, lease))))).toEqual([
      'insert',
      'delete',
    ]);
  });

  test('moves a stage, with a lease and without', async () => {
    expect(await kinds(() => ok(updateStageCas(own, move)))).toEqual(['update']);
    const lease = await ok(acquireLease(own, request));
    const back = { taskId: 1, expected: 'deploy', next: 'deploy-staging', lease } as const;
    expect(await kinds(() => ok(updateStageCas(own, back)))).toEqual(['update']);
  });

  test('each: a whole transition is three, or one transaction of two after the first', async () => {
    expect(await kinds(() => ok(withTransitionLease(own, request, (held) => held.updateStage('deploy'))))).toEqual([
      'insert',
      'update',
      'delete',
    ]);
    const later = { ...request, stage: 'deploy' } as const;
    const released = () => withTransitionLease(own, later, (held) => held.updateStage('done', { release: true }));
    expect(await kinds(() => ok(released()))).toEqual(['insert', 'begin', 'update', 'delete', 'commit']);
  });

  test('takes two hundred leases, renews them and gives them back', async () => {
    const requests = Array.from({ length: 200 }, (_, at) => ({ taskId: at + 1, actor: 'reconciler' }));
    const { acquired } = await ok(acquireLeases(own, requests));
    expect(a.wire.sent).toHaveLength(1);
    expect(await kinds(() => rig.time.advance(10_000))).toEqual(['update']);
    expect(await kinds(() => ok(releaseLeases(own, acquired)))).toEqual(['delete']);
  });

  test('verifies a lease before an irreversible step', async () => {
    await ok(
      withTransitionLease(own, request, async (held) => {
        expect(await kinds(() => ok(held.ensure(1_000)))).toEqual(['update']);
      }),
    );
  });

  test('looks at one lease, at all leases, and at whether to defer', async () => {
    await ok(acquireLease(b.own(), request));
    expect(await kinds(() => ok(inspectLease(own, 1)))).toEqual(['select']);
    expect(await kinds(() => ok(shouldDefer(own, 1)))).toEqual(['select']);
    expect(await kinds(() => ok(snapshot(own)))).toEqual(['select']);
  });
});

describe('few statements', () => {
  test('tell a busy task: what was tried, and who is in the way', async () => {
    await ok(acquireLease(b.own(), request));
    expect(await kinds(() => Promise.resolve(acquireLease(own, request)))).toEqual(['insert', 'select']);
  });

  test('take over from the dead: tried, looked, reclaimed, tried again', async () => {
    await ok(acquireLease(b.own(), request));
    b.kill();
    expect(await kinds(() => ok(acquireLease(own, request)))).toEqual(['insert', 'select', 'delete', 'insert']);
  });

  test('reclaim: one look at all, and one for each of the dead', async () => {
    const other = b.own();
    for (const taskId of [1, 2, 3]) await ok(acquireLease(other, { taskId, actor: 'monitor' }));
    b.kill();
    expect(await kinds(() => ok(reclaimStaleLeases(own)))).toEqual(['select', 'delete', 'delete', 'delete']);
  });

  test('overrule an owner: looked, and removed exactly what was seen', async () => {
    const lease = await ok(acquireLease(b.own(), request));
    const order = { taskId: 1, fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'drill' };
    expect(await kinds(() => ok(forceReleaseLease(own, order)))).toEqual(['select', 'delete']);
  });

  test('explain a lost race: what was tried, who holds the lease, where the stage is', async () => {
    const lease = await ok(acquireLease(own, request));
    const wrong = { ...move, expected: 'done', lease } as const;
    expect(await kinds(() => Promise.resolve(updateStageCas(own, wrong)))).toEqual(['update', 'select', 'select']);
    expect(await kinds(() => Promise.resolve(updateStageCas(own, { ...wrong, lease: undefined })))).toEqual([
      'update',
      'select',
    ]);
  });
});

test('no statement is sent by making an ownership, and none by a request that is refused', () => {
  const untyped = acquireLease as unknown as (...given: unknown[]) => unknown;
  expect(() => untyped(own, { taskId: '1', actor: 'monitor' })).toThrow(TypeError);
  expect(a.wire.sent).toEqual([]);
  expect(a.timers).toEqual([]);
});
