import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Setup } from './child/setup.js';
import { Child, start } from './children.js';
import { type Look, newFile } from './file.js';
import type { FamilyCommands } from './programs/family.js';
import type { ThreadCommands } from './programs/threads.js';

const request = { taskId: 1, actor: 'monitor' };

test('an identity is not inherited: two cluster children and a forked one contend with their parent', async () => {
  const family = new Child<FamilyCommands>('family', { file: newFile().path });
  await family.call('schema');
  const members = await family.call('contend');
  expect(new Set(members.map(({ bootId }) => bootId)).size).toBe(4);
  expect(new Set(members.map(({ pid }) => pid)).size).toBe(4);
  expect(members.map(({ won }) => won)).toEqual([true, false, false, false]);
});

describe('a boot id that two processes took from their environment', () => {
  async function twoOf(setup: Partial<Setup>): Promise<unknown> {
    const file = newFile().path;
    const [first, second] = [1, 2].map(() => start({ file, identity: { bootId: 'taken from it' }, ...setup }));
    if (first === undefined || second === undefined) throw new Error('two were started');
    await first.call('schema');
    expect(await first.call('acquire', request)).toHaveProperty('ok');
    return second.call('acquire', request);
  }

  test('makes them no single process: all four parts of an identity must be equal', async () => {
    expect(await twoOf({})).toMatchObject({ err: { type: 'lease-busy', reason: 'process-alive' } });
  });

  test('singleProcess: goes by the boot id, and lets each take what the other has for its own orphan', async () => {
    expect(await twoOf({ liveness: 'single-process' })).toHaveProperty('ok');
  });
});

describe('two threads of one process', () => {
  async function threads(setup: Partial<Setup> = {}): Promise<{ file: Look; child: Child<ThreadCommands> }> {
    const file = newFile(2);
    const child = new Child<ThreadCommands>('threads', { file: file.path, ttlMs: 1_200, renewEveryMs: 400, ...setup });
    await child.call('schema');
    return { file, child };
  }

  test('are two contenders, and the main thread is a third', async () => {
    const { child } = await threads();
    const main = await child.call('identity');
    const a = await child.call('inThread', { thread: 'a', command: 'identity' });
    const b = await child.call('inThread', { thread: 'b', command: 'identity' });
    const bootId = expect.any(String) as unknown;
    expect([a, b]).toEqual([
      { ...main, bootId },
      { ...main, bootId },
    ]);
    expect(new Set([main, a, b].map((identity) => (identity as typeof main).bootId)).size).toBe(3);

    expect(await child.call('inThread', { thread: 'a', command: 'acquire', argument: request })).toHaveProperty('ok');
    const refused = { err: { type: 'lease-busy', verdict: 'live', reason: 'process-alive' } };
    expect(await child.call('inThread', { thread: 'b', command: 'acquire', argument: request })).toMatchObject(refused);
    expect(await child.call('acquire', request)).toMatchObject(refused);
  });

  test('a thread that is terminated leaves its lease to expire, for its process lives; the others go on', async () => {
    const { file, child } = await threads();
    await child.call('inThread', { thread: 'b', command: 'identity' });
    await child.call('inThread', { thread: 'a', command: 'acquire', argument: request });
    await child.call('terminate', { thread: 'a' });
    const refused = await child.call('inThread', { thread: 'b', command: 'acquire', argument: request });
    expect(refused).toMatchObject({ err: { type: 'lease-busy', reason: 'process-alive' } });
    const [row] = file.rows(`select expires_ms - unixepoch('subsec') * 1000 as left from transition_lease`);
    await setTimeout((row as { left: number }).left + 5);
    expect(await child.call('inThread', { thread: 'b', command: 'acquire', argument: request })).toHaveProperty('ok');
    expect(await child.event('lease.reclaimed')).toMatchObject({ reason: 'expired' });
    expect(await child.call('identity')).toHaveProperty('pid', child.pid);
  });

  test('a thread that is terminated inside a transaction takes it back, and the process survives', async () => {
    const { file, child } = await threads();
    await child.call('inThread', { thread: 'a', command: 'acquire', argument: request });
    await child.call('inThread', { thread: 'a', command: 'query', argument: { text: 'begin immediate' } });
    const text = `update tasks set stage = 'done' where id = 1`;
    await child.call('inThread', { thread: 'a', command: 'query', argument: { text } });
    await child.call('terminate', { thread: 'a' });
    expect(await child.call('acquire', { ...request, taskId: 2 })).toHaveProperty('ok');
    expect(file.account()).toEqual([]);
  });

  test('singleProcess: is not for threads: each calls the other dead', async () => {
    const { child } = await threads({ liveness: 'single-process' });
    expect(await child.call('inThread', { thread: 'a', command: 'acquire', argument: request })).toHaveProperty('ok');
    expect(await child.call('inThread', { thread: 'b', command: 'acquire', argument: request })).toHaveProperty('ok');
    expect(await child.event('lease.reclaimed')).toMatchObject({ reason: 'another-boot' });
  });
});
