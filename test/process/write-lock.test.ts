import { describe, expect, test } from 'vitest';
import type { Setup } from './child/setup.js';
import { type Child, start } from './children.js';
import { type Look, newFile } from './file.js';

const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' };
const move = { taskId: 1, expected: 'deploy', next: 'done' };

async function newChild(setup: Partial<Setup> = {}): Promise<{ file: Look; child: Child }> {
  const file = newFile(2);
  const child = start({ file: file.path, busyTimeoutMs: 0, ...setup });
  await child.call('schema');
  return { file, child };
}

/** Waits until the child has tried to write that many times more: a busy statement is sent again and again. */
async function writes(child: Child, more: number): Promise<void> {
  const before = await child.call('writes'); // The first try may be among them, for it was asked first.
  while ((await child.call('writes')) < before + more);
}

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
    const { answer } = await whileLocked(child, file, () => child.call('acquire', request), 1);
    expect(answer).toHaveProperty('ok');
    expect(await child.call('longestGapMs')).toBeGreaterThan(950);
  });

  test('a driver that does not wait at all leaves the two seconds to the library: a lock of 1.6 s is waited out', async () => {
    const { file, child } = await newChild({ busyTimeoutMs: 0 });
    file.run('begin immediate');
    const answer = child.call('acquire', request);
    await writes(child, 1);
    await new Promise((passed) => setTimeout(passed, 1_600));
    file.run('rollback');
    expect(await answer).toHaveProperty('ok');
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
