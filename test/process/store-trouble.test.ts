import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Setup } from './child/setup.js';
import { type Child, start } from './children.js';
import { type Look, newFile, newPath } from './file.js';
import { testIf } from './permitted.js';

const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' };
const move = { taskId: 1, expected: 'deploy', next: 'done' };

async function newChild(setup: Partial<Setup> = {}): Promise<{ file: Look; child: Child }> {
  const file = newFile(40);
  const child = start({ file: file.path, busyTimeoutMs: 0, ...setup });
  await child.call('schema');
  return { file, child };
}

/** Waits until the child has tried to write that many times more: a busy statement is sent again and again. */
async function writes(child: Child, more: number): Promise<void> {
  const before = await child.call('writes'); // The first try may be among them, for it was asked first.
  while ((await child.call('writes')) < before + more);
}

describe('a disk that is full', () => {
  const noRoom = { type: 'store-failure', kind: 'other', retryable: true, outcome: 'not-applied' };

  /** No page more than there are. */
  async function fill(child: Child): Promise<void> {
    const [row] = await child.call('query', { text: 'pragma page_count' });
    await child.call('query', { text: `pragma max_page_count = ${(row as { page_count: number }).page_count}` });
  }

  const makeRoom = (child: Child) => child.call('query', { text: 'pragma max_page_count = 100000' });

  test('updateStageCas: fails in the middle of its commit with the true reason, and everything is as before', async () => {
    const { file, child } = await newChild();
    await child.call('acquire', request);
    await fill(child);
    const failed = await child.call('write', { ...move, note: 'n'.repeat(100_000), release: true });
    expect(failed).toMatchObject({ err: { ...noRoom, cause: { code: 'SQLITE_FULL' } } });
    expect(file.account()).toEqual([]);
    expect(file.leases()).toHaveLength(1);
    await makeRoom(child);
    expect(await child.call('write', { ...move, note: 'n'.repeat(100_000), release: true })).toHaveProperty('ok');
    expect(file.leases()).toEqual([]);
  });

  test('withTransitionLease: does not start its handler', async () => {
    const { file, child } = await newChild();
    await fill(child);
    let free = 1;
    const actor = 'a'.repeat(250);
    while ('ok' in (await child.call('acquire', { taskId: free, actor }))) free += 1;
    expect(await child.call('hold', { taskId: free, actor })).toMatchObject({ err: noRoom });
    expect(child.unheard('holding')).toBe(true);
    expect(file.leases()).toHaveLength(free - 1);
    await makeRoom(child);
    expect(await child.call('acquire', { taskId: free, actor })).toHaveProperty('ok');
  });
});

describe('a release that fails', () => {
  interface Trouble {
    readonly trouble: string;
    readonly begin: (child: Child, file: Look) => unknown;
    readonly end: (child: Child, file: Look) => unknown;
  }

  const readOnly: Trouble = {
    trouble: 'the store is read-only',
    begin: (child) => child.call('query', { text: 'pragma query_only = 1' }),
    end: (child) => child.call('query', { text: 'pragma query_only = 0' }),
  };
  const locked: Trouble = {
    trouble: 'another process holds the write lock',
    begin: (_child, file) => file.run('begin immediate'),
    end: (_child, file) => file.run('rollback'),
  };

  test.each([readOnly, locked])(
    '$trouble: the value of the handler is kept, and its row is an orphan',
    async ({ begin, end }) => {
      const { file, child } = await newChild();
      const handled = child.call('hold', request);
      await child.said('holding');
      await begin(child, file);
      await child.call('end', { value: 42 });
      expect(await handled).toEqual({ ok: 42 });
      expect(await child.event('lease.release-failed')).toMatchObject({ taskId: 1, severity: 'warning' });
      await end(child, file);
      expect(file.leases()).toHaveLength(1);

      const other = start({ file: file.path });
      expect(await other.call('acquire', request)).toMatchObject({
        err: { type: 'lease-busy', reason: 'process-alive' },
      });
      expect(await child.call('acquire', request)).toHaveProperty('ok');
      expect(await child.event('lease.reclaimed')).toMatchObject({ reason: 'orphaned' });
    },
  );

  test.each([readOnly, locked])('$trouble: what the handler threw is kept', async ({ begin }) => {
    const { file, child } = await newChild();
    const handled = child.call('hold', request);
    await child.said('holding');
    await begin(child, file);
    await child.call('end', { error: 'the build broke' });
    expect(await handled).toMatchObject({ err: { type: 'handler-failed', cause: { message: 'the build broke' } } });
    expect(await child.event('lease.release-failed')).toMatchObject({ taskId: 1 });
  });

  const mayMount = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
  testIf(mayMount, 'mounting a small file system is not permitted here')(
    'a disk without a byte left: the value of the handler is kept, and its row is an orphan',
    async () => {
      const file = newPath();
      const script = 'mount -t tmpfs -o size=512k tmpfs "$0" && exec "$@"';
      const child = start({ file }, { under: ['unshare', '--mount', 'sh', '-c', script, dirname(file)] });
      await child.call('schema');
      const handled = child.call('hold', { taskId: 1, actor: 'finalizer' });
      await child.said('holding');
      expect(await child.call('fillDisk', { full: true })).toBe('ENOSPC');
      await child.call('end', { value: 42 });
      expect(await handled).toEqual({ ok: 42 });
      expect(await child.event('store.failed')).toMatchObject({ kind: 'other', outcome: 'not-applied' });
      expect(await child.event('lease.release-failed')).toMatchObject({ taskId: 1 });
      await child.call('fillDisk', { full: false });
      expect(await child.call('acquire', { taskId: 1, actor: 'reaper' })).toHaveProperty('ok');
      expect(await child.event('lease.reclaimed')).toMatchObject({ reason: 'orphaned' });
    },
  );
});

describe('another process holds the write lock for longer than the driver waits', () => {
  /** Runs a verb against the lock until it was tried that many times more; watches the loop meanwhile. */
  async function whileLocked<T>(child: Child, file: Look, run: (child: Child) => Promise<T>, tries: number) {
    await child.call('watchLoop');
    const since = performance.now();
    file.run('begin immediate');
    const answer = run(child);
    await writes(child, tries);
    file.run('rollback');
    const lockedMs = performance.now() - since;
    return { answer: await answer, lockedMs };
  }

  interface Verb {
    readonly verb: string;
    readonly run: (child: Child) => Promise<unknown>;
  }

  test.each<Verb>([
    { verb: 'acquireLease', run: (child: Child) => child.call('acquire', { ...request, taskId: 2 }) },
    { verb: 'updateStageCas', run: (child: Child) => child.call('write', move) },
    { verb: 'updateStageCas with release', run: (child: Child) => child.call('write', { ...move, release: true }) },
    { verb: 'releaseLease', run: (child: Child) => child.call('release', { taskId: 1 }) },
    { verb: 'ensure', run: (child: Child) => child.call('ensureHeld', request) },
  ])('$verb: waits without standing in the way of the event loop, and succeeds', async ({ run }) => {
    const { file, child } = await newChild({ busyTimeoutMs: 50 });
    await child.call('acquire', request);
    const { answer, lockedMs } = await whileLocked(child, file, run, 6);
    expect(answer).toHaveProperty('ok');
    expect(await child.call('longestGapMs')).toBeGreaterThan(40);
    expect(await child.call('longestGapMs')).toBeLessThan(lockedMs / 2);
  });

  test('a driver that waits for a second stands in the way for a second', async () => {
    const { file, child } = await newChild({ busyTimeoutMs: 1_000 });
    const { answer, lockedMs } = await whileLocked(child, file, () => child.call('acquire', request), 1);
    expect(answer).toHaveProperty('ok');
    expect(await child.call('longestGapMs')).toBeGreaterThan(lockedMs / 2);
  });

  test('acquireLease: is a retryable store failure when it takes too long, and no handler is started', async () => {
    const { file, child } = await newChild();
    file.run('begin immediate');
    const failure = { type: 'store-failure', kind: 'busy', retryable: true, outcome: 'not-applied' };
    expect(await child.call('hold', request)).toMatchObject({ err: failure });
    expect(child.unheard('holding')).toBe(true);
    file.run('rollback');
    expect(file.leases()).toEqual([]);
  });

  test('renewals that fail are no loss: the next one that comes through keeps the lease', async () => {
    const { file, child } = await newChild({ ttlMs: 4_500, renewEveryMs: 300, busyTimeoutMs: 20 });
    await child.call('acquire', request);
    file.run('begin immediate');
    await child.event('lease.renewal-failed');
    const renewed = child.events.filter(({ type }) => type === 'lease.renewed').length;
    file.run('rollback');
    await child.event('lease.renewed', renewed + 1);
    expect(await child.call('signal', { taskId: 1 })).toEqual({ aborted: false });
    expect(await child.call('write', move)).toHaveProperty('ok');
  });

  test('a holder that cannot renew stops trusting itself while the lock is still held', async () => {
    const { file, child } = await newChild({ ttlMs: 900, renewEveryMs: 300, busyTimeoutMs: 20 });
    await child.call('acquire', request);
    file.run('begin immediate');
    expect(await child.event('lease.lost')).toMatchObject({ reason: 'unverifiable' });
    expect(await child.call('signal', { taskId: 1 })).toMatchObject({ aborted: true });
    file.run('rollback');
  });
});
