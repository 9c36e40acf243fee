import { describe, expect, test } from 'vitest';
import type { Setup } from './child/setup.js';
import { type Child, start, stateOf } from './children.js';
import { type Look, newFile } from './file.js';
import { testIf } from './permitted.js';

const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' };

describe('an owner that ended and was not collected', () => {
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
});

describe('an owner whose pid', () => {
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
