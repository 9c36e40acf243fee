import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { Setup } from './child/setup.js';
import { type Child, start } from './children.js';
import { type Look, newFile } from './file.js';
import { testIf } from './permitted.js';

const request = { taskId: 1, actor: 'monitor' };

/** A container as far as pids go: a pid namespace with a `/proc` of its own. */
const container = ['unshare', '--pid', '--fork', '--mount-proc'];
/** The same, but its `/proc` still shows the pids of the outside. */
const foreignProc = ['unshare', '--pid', '--fork'];
/** Another origin of the time since boot, in which start marks are told. */
const elsewhen = ['unshare', '--time', '--boottime', '100000', '--fork'];

function permitted(under: readonly string[]): boolean {
  return spawnSync(under[0] ?? '', [...under.slice(1), 'true']).status === 0;
}

const testInPidNamespaces = testIf(permitted(container), 'pid namespaces are not permitted here');

async function newChild(file: Look, under: readonly string[] = [], setup: Partial<Setup> = {}): Promise<Child> {
  const child = start({ file: file.path, ttlMs: 1_200, renewEveryMs: 400, ...setup }, { under });
  await child.call('schema');
  return child;
}

/** What starts a process in the namespaces of a child that runs under `unshare --fork`. */
function beside({ pid }: Child, ...namespaces: readonly string[]): readonly string[] {
  const inner = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim();
  return ['nsenter', '--target', inner, ...namespaces];
}

async function expiry(file: Look): Promise<void> {
  const [row] = file.rows(`select expires_ms - unixepoch('subsec') * 1000 as left from transition_lease`);
  await setTimeout(Math.max(0, (row as { left: number }).left) + 5);
}

describe('pid namespaces', () => {
  testInPidNamespaces('the same pid in two of them is two processes in two scopes', async () => {
    const file = newFile();
    const [a, b, outside] = await Promise.all([newChild(file, container), newChild(file, container), newChild(file)]);
    const identities = await Promise.all([a, b, outside].map((child) => child.call('identity')));
    expect(identities.map(({ pid }) => pid)).toEqual([1, 1, outside.pid]);
    expect(new Set(identities.map(({ host }) => host)).size).toBe(3);
  });

  testInPidNamespaces.each([
    { owner: 'inside one', heir: 'outside', at: container, to: [] },
    { owner: 'outside', heir: 'inside one', at: [], to: container },
    { owner: 'inside one', heir: 'inside another', at: container, to: container },
  ])(
    'an owner $owner is no evidence for an heir $heir: dead or alive, its lease ends by expiry',
    async ({ at, to }) => {
      const file = newFile();
      const [owner, heir] = await Promise.all([newChild(file, at), newChild(file, to)]);
      await owner.call('acquire', request);
      const refused = { err: { type: 'lease-busy', verdict: 'live', reason: 'unexpired' } };
      expect(await heir.call('acquire', request)).toMatchObject(refused);
      await owner.kill();
      expect(await heir.call('acquire', request)).toMatchObject(refused);
      await expiry(file);
      expect(await heir.call('acquire', request)).toHaveProperty('ok');
      expect(await heir.event('lease.reclaimed')).toMatchObject({ reason: 'expired' });
    },
  );

  testInPidNamespaces('two processes of one namespace are evidence for each other', async () => {
    const file = newFile();
    const first = await newChild(file, container);
    const owner = await newChild(file, beside(first, '--pid', '--mount'));
    await owner.call('acquire', request);
    expect(await first.call('acquire', request)).toMatchObject({ err: { reason: 'process-alive' } });
    await owner.kill();
    expect(await first.call('acquire', request)).toHaveProperty('ok');
    expect(await first.event('lease.reclaimed')).toMatchObject({ reason: 'process-gone' });
  });

  testInPidNamespaces.each<{ setup: Partial<Setup>; scope: string }>([
    { scope: 'the scope of its own', setup: {} },
    { scope: 'a scope that the caller vouches for', setup: { identity: { host: 'one machine' } } },
  ])('a /proc that shows the pids of another namespace is no evidence, in $scope', async ({ setup }) => {
    const file = newFile();
    const first = await newChild(file, foreignProc, setup);
    const second = await newChild(file, beside(first, '--pid'), setup);
    await first.call('acquire', request);
    expect(await second.call('acquire', request)).toMatchObject({ err: { verdict: 'live', reason: 'unexpired' } });
  });

  testInPidNamespaces('with the namespace left out of its scope, the heir calls a living owner dead', async () => {
    const file = newFile();
    const [owner, heir] = await Promise.all([
      newChild(file, container, { identity: { host: 'the name of the machine' } }),
      newChild(file, [], { identity: { host: 'the name of the machine' } }),
    ]);
    await owner.call('acquire', request);
    expect(await heir.call('acquire', request)).toHaveProperty('ok');
    expect(await heir.event('lease.reclaimed')).toMatchObject({ reason: 'pid-reused' });
  });
});

describe('time namespaces', () => {
  testIf(permitted(elsewhen), 'time namespaces are not permitted here')(
    'start marks of another one are no evidence: a living owner is live until its lease expires',
    async () => {
      const file = newFile();
      const [owner, heir] = await Promise.all([newChild(file, elsewhen), newChild(file)]);
      await owner.call('acquire', request);
      expect(await heir.call('acquire', request)).toMatchObject({ err: { verdict: 'live', reason: 'unexpired' } });
    },
  );
});
