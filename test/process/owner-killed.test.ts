import { describe, expect, test } from 'vitest';
import { type Child, start } from './children.js';
import { type Look, newFile } from './file.js';

const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' };
const move = { taskId: 1, expected: 'deploy', next: 'done' };

interface Point {
  readonly point: string;
  /** Brings the owner to the point. */
  readonly reach: (owner: Child) => Promise<unknown>;
  /** What it leaves behind. */
  readonly stage: 'deploy' | 'done';
  readonly leases: number;
}

async function intoHandler(owner: Child): Promise<void> {
  void owner.call('hold', request); // It never ends.
  await owner.said('holding');
}

const points: readonly Point[] = [
  { point: 'before it acquires', reach: (owner) => owner.call('identity'), stage: 'deploy', leases: 0 },
  {
    point: 'after it acquired',
    reach: (owner) => owner.call('acquire', request),
    stage: 'deploy',
    leases: 1,
  },
  { point: 'in its handler', reach: intoHandler, stage: 'deploy', leases: 1 },
  {
    point: 'between its effect and its stage write',
    reach: async (owner) => {
      await intoHandler(owner);
      await owner.call('effect', { taskId: 1 });
    },
    stage: 'deploy',
    leases: 1,
  },
  {
    point: 'after its stage write, before its release',
    reach: async (owner) => {
      await intoHandler(owner);
      await owner.call('effect', { taskId: 1 });
      await owner.call('write', move);
    },
    stage: 'done',
    leases: 1,
  },
];

async function killedAt(point: Point): Promise<Look> {
  const file = newFile();
  const owner = start({ file: file.path });
  await owner.call('schema');
  await point.reach(owner);
  expect(await owner.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  expect(file.leases()).toHaveLength(point.leases);
  expect(file.rows('select stage from tasks')).toEqual([{ stage: point.stage }]);
  return file;
}

describe('an owner killed by SIGKILL', () => {
  test.each(points)(
    '$point: another process finishes its transition at once, on the evidence of its pid',
    async (point) => {
      const file = await killedAt(point);
      const heir = start({ file: file.path });
      const { recovered } = await heir.call('recover', { taskId: 1 });
      const dead = { taskId: 1, verdict: 'dead', reason: 'process-gone' };
      // Kept while the stage is not written: the acquisition of the heir replaces it.
      const brokenOff = point.stage === 'deploy' && point.leases > 0;
      const reclaimed = point.stage === 'done' ? [dead] : [];
      const transitions = brokenOff ? [{ taskId: 1, decision: 'redrive', lease: dead }] : [];
      expect(recovered).toMatchObject({ ok: { reclaimed, transitions, skipped: [], complete: true } });
      if (point.stage === 'deploy') expect(file.effects()).toHaveLength(1);
      expect(file.task()).toMatchObject({ stage: 'done' });
      expect(file.account()).toEqual([{ task: 1, was: 'deploy', is_now: 'done' }]);
      expect(file.effects()).toHaveLength(1);
      expect(file.leases()).toEqual([]);
    },
  );

  test.each(points.filter(({ leases }) => leases > 0))(
    '$point: without pid evidence its task stays owned until the lease expires',
    async (point) => {
      const file = await killedAt(point);
      const heir = start({ file: file.path, liveness: 'heartbeat-only' });
      expect(await heir.call('recover', { taskId: 1 })).toMatchObject({ recovered: { ok: { reclaimed: [] } } });
      const anyStage = { taskId: 1, actor: 'reaper' };
      expect(await heir.call('acquire', anyStage)).toMatchObject({ err: { type: 'lease-busy', reason: 'unexpired' } });
    },
  );

  test('acquireLease: takes the task over in one call, and says whose lease it reclaimed', async () => {
    const file = newFile();
    const owner = start({ file: file.path });
    await owner.call('schema');
    const held = await owner.call('acquire', request);
    await owner.kill();
    const heir = start({ file: file.path });
    const taken = await heir.call('acquire', { ...request, actor: 'reaper' });
    if (!('ok' in held && 'ok' in taken)) throw new Error('both were granted');
    expect(taken.ok.fencingToken).toBeGreaterThan(held.ok.fencingToken ?? Number.POSITIVE_INFINITY);
    expect(await heir.event('lease.reclaimed')).toMatchObject({
      taskId: 1,
      fencingToken: held.ok.fencingToken,
      actor: 'finalizer',
      reason: 'process-gone',
    });
  });
});
