import { describe, expect, test } from 'vitest';
import type { Setup } from './child/setup.js';
import { type Child, start, stateOf } from './children.js';
import { type Look, newFile } from './file.js';
import { testIf } from './permitted.js';

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
      const dead = Array.from({ length: point.leases }, () => ({ taskId: 1, verdict: 'dead', reason: 'process-gone' }));
      expect(recovered).toMatchObject({ ok: { reclaimed: dead, skipped: [], complete: true } });
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
      expect(await heir.call('acquire', request)).toMatchObject({ err: { type: 'lease-busy', reason: 'unexpired' } });
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

  /** An owner that was killed, and whose parent does not collect it. */
  async function zombie(file: Look): Promise<number> {
    // The shell becomes a sleep, which never waits for the child that it inherits.
    const owner = start({ file: file.path }, { under: ['sh', '-c', 'exec 3<&0; "$@" <&3 & exec sleep 60', 'sh'] });
    await owner.call('schema');
    const { pid } = await owner.call('identity');
    await owner.call('acquire', request);
    process.kill(pid, 'SIGKILL');
    while (stateOf(pid) !== 'Z') await new Promise(setImmediate);
    expect(() => process.kill(pid, 0)).not.toThrow();
    return pid;
  }

  test('acquireLease: a zombie, which its parent did not collect, is gone', async () => {
    const file = newFile();
    const pid = await zombie(file);
    const heir = start({ file: file.path });
    expect(await heir.call('acquire', request)).toHaveProperty('ok');
    expect(await heir.event('lease.reclaimed')).toMatchObject({ reason: 'process-gone' });
    expect(stateOf(pid)).toBe('Z');
  });

  test('to whom signal 0 is all that there is, a zombie lives', async () => {
    const file = newFile();
    await zombie(file);
    const heir = start({ file: file.path, processes: 'by-signal-alone' });
    expect(await heir.call('acquire', request)).toMatchObject({ err: { type: 'lease-busy', verdict: 'live' } });
  });

  describe('whose pid', () => {
    /** A row that carries the pid of a living process. */
    async function rowOf(file: Look, bystander: Child, startMark: string): Promise<void> {
      const { pid, host } = await bystander.call('identity');
      file.run(`insert into transition_lease
        (claim, task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, acquired_ms, expires_ms, ttl_ms)
        select 'an old claim', 1, 'monitor', ${pid}, 'an old boot', '${host}', '${startMark}', now, now + 30000, 30000
        from (select cast(unixepoch('subsec') * 1000 as integer) as now)`);
    }

    test('belongs to a younger process now: dead, for the start marks differ', async () => {
      const file = newFile();
      const [bystander, heir] = [start({ file: file.path }), start({ file: file.path })];
      await bystander.call('schema');
      await rowOf(file, bystander, '1');
      expect(await heir.call('acquire', request)).toHaveProperty('ok');
      expect(await heir.event('lease.reclaimed')).toMatchObject({ reason: 'pid-reused' });
    });

    test('belongs to a younger process now: to whom signal 0 is all that there is, the owner lives', async () => {
      const file = newFile();
      const [bystander, heir] = [start({ file: file.path }), start({ file: file.path, processes: 'by-signal-alone' })];
      await bystander.call('schema');
      await rowOf(file, bystander, '1');
      expect(await heir.call('acquire', request)).toMatchObject({ err: { type: 'lease-busy', verdict: 'live' } });
    });

    test('is still its own: live, for the start marks are equal', async () => {
      const file = newFile();
      const [bystander, heir] = [start({ file: file.path }), start({ file: file.path })];
      await bystander.call('schema');
      const { start: mark } = await bystander.call('identity');
      await rowOf(file, bystander, mark ?? 'none');
      expect(await heir.call('acquire', request)).toMatchObject({
        err: { type: 'lease-busy', verdict: 'live', reason: 'process-alive' },
      });
    });

    const asNobody = testIf(process.getuid?.() === 0, 'only root can become another user');

    /** A process of another user, which may not signal the living owner. */
    async function stranger(setup: Partial<Setup> = {}): Promise<Child> {
      const file = newFile();
      const [owner, other] = [start({ file: file.path }), start({ file: file.path, ...setup })];
      await owner.call('schema');
      await owner.call('acquire', request);
      await other.call('becomeNobody');
      expect(await other.call('signalZero', { pid: owner.pid })).toBe('EPERM');
      return other;
    }

    asNobody('is not ours to signal: it exists, and is live', async () => {
      const other = await stranger();
      expect(await other.call('acquire', request)).toMatchObject({
        err: { type: 'lease-busy', verdict: 'live', reason: 'process-alive' },
      });
    });

    asNobody('is not ours to signal: to whom any failure means gone, a living owner is dead', async () => {
      const other = await stranger({ processes: 'by-signal-alone' });
      expect(await other.call('acquire', request)).toHaveProperty('ok');
    });
  });
});
