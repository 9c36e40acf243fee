import { describe, expect, test } from 'vitest';
import type { Setup } from './child/setup.js';
import { type Child, start } from './children.js';
import { type Look, newFile } from './file.js';

const request = { taskId: 1, actor: 'monitor', stage: 'deploy' };

/** A process that holds a lease and renews it every 100 ms. */
async function holder(setup: Partial<Setup> = {}): Promise<{ file: Look; child: Child }> {
  const file = newFile();
  const child = start({ file: file.path, ttlMs: 600, renewEveryMs: 100, ...setup });
  await child.call('schema');
  return { file, child };
}

describe('a process that holds a lease', () => {
  test('and has nothing else to do exits by itself within a second, with the lease left to expire', async () => {
    const { file, child } = await holder();
    expect(await child.call('acquire', request)).toHaveProperty('ok');
    const left = performance.now();
    child.tell('leave');
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - left).toBeLessThan(1_000);
    expect(child.events.map(({ type }) => type)).not.toContain('lease.renewed');
    expect(file.leases()).toHaveLength(1);
  });

  test('with timers that are referenced would never exit: it renews and renews', async () => {
    const { child } = await holder({ clock: 'with-referenced-timers' });
    await child.call('acquire', request);
    child.tell('leave');
    expect(await child.event('lease.renewed', 3)).toMatchObject({ taskId: 1 });
  });

  test('is kept alive by the work of its handler, and ends when that has ended', async () => {
    const { file, child } = await holder();
    const handled = child.call('work', { ...request, forMs: 250 });
    child.tell('leave');
    expect(await handled).toEqual({ ok: 'worked' });
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(file.leases()).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const)(
    'dies of %s as if the library were not there',
    async (signal) => {
      const { child } = await holder();
      await child.call('acquire', request);
      child.signal(signal);
      expect(await child.ended).toEqual({ code: null, signal });
    },
  );

  test('with a signal handler of its own is not ended by anybody: the handler decides', async () => {
    const { child } = await holder();
    await child.call('acquire', request);
    await child.call('listenTo', { signal: 'SIGTERM' });
    child.signal('SIGTERM');
    await child.said('SIGTERM');
    expect(await child.call('release', { taskId: 1 })).toEqual({ ok: 'released' });
  });
});

test('neither making an ownership nor any verb nor closing leaves a listener on the process', async () => {
  const { file, child } = await holder();
  await child.call('acquire', request);
  await child.event('lease.renewed');
  await child.call('release', { taskId: 1 });
  await child.call('work', { ...request, forMs: 1 });
  await child.call('reclaim', {});
  const { before, now } = await child.call('listeners');
  expect(now).toEqual(before);
  await child.call('close');
  expect(await child.call('listeners')).toEqual({ before, now: before });
  expect(file.leases()).toEqual([]);
  await child.call('listenTo', { signal: 'SIGTERM' });
  expect(await child.call('listeners')).toEqual({ before, now: [...before, 'SIGTERM: 1'] });
});
