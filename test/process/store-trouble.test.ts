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
      await child.call('query', { text: 'create table tasks (id integer primary key, stage text)' });
      await child.call('query', { text: "insert into tasks values (1, 'deploy')" });
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
