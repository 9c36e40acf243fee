import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Setup } from './child/setup.js';
import { type Child, start } from './children.js';
import { type Look, newFile } from './file.js';

const times = { ttlMs: 1_200, renewEveryMs: 400 };
const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' };
const move = { taskId: 1, expected: 'deploy', next: 'done' };

/** Two processes, both up and running: the lease of one must not expire while the other still starts. */
async function ownerAndHeir(file: Look, setup: Partial<Setup> = {}): Promise<[Child, Child]> {
  const [owner, heir] = [start({ file: file.path, ...times, ...setup }), start({ file: file.path, busyTimeoutMs: 0 })];
  await Promise.all([owner.call('schema'), heir.call('identity')]);
  return [owner, heir];
}

/** Waits until the lease has expired by the clock of the database: time must really pass here. */
async function expiry(file: Look): Promise<void> {
  const [row] = file.rows("select expires_ms - unixepoch('subsec') * 1000 as left from transition_lease") as {
    left: number;
  }[];
  await setTimeout(Math.max(0, Math.ceil(row?.left ?? 0)) + 5);
}

/** Another process takes the task over: refused while the lease lasts, for the stopped owner lives; then granted. */
async function takeOver(file: Look, heir: Child): Promise<void> {
  expect(await heir.call('acquire', request)).toMatchObject({ err: { type: 'lease-busy', reason: 'process-alive' } });
  await expiry(file);
  expect(await heir.call('acquire', { ...request, actor: 'reaper' })).toHaveProperty('ok');
  expect(await heir.event('lease.reclaimed')).toMatchObject({ actor: 'finalizer', reason: 'expired' });
}

/** The woken owner tries all that a holder can do. */
async function changesNothing(owner: Child, file: Look): Promise<void> {
  const before = file.rows('select * from transition_lease');
  expect(await owner.call('write', move)).toMatchObject({ err: { type: 'lease-lost' } });
  expect(await owner.call('write', { ...move, release: true })).toMatchObject({ err: { type: 'lease-lost' } });
  expect(await owner.call('ensure', { taskId: 1, ms: 0 })).toMatchObject({ err: { type: 'lease-lost' } });
  expect(await owner.call('release', { taskId: 1 })).toEqual({ ok: 'superseded' });
  expect(file.rows('select * from transition_lease')).toEqual(before);
  expect(file.account()).toEqual([]);
}

async function hold(owner: Child): Promise<void> {
  void owner.call('hold', request); // It never ends.
  await owner.said('holding');
}

describe('an owner stopped by SIGSTOP for longer than its lease', () => {
  test('is live until its lease expires; woken, it knows of its loss at once and changes nothing', async () => {
    const file = newFile();
    const [owner, heir] = await ownerAndHeir(file);
    await hold(owner);
    await owner.stop();
    await takeOver(file, heir);
    owner.signal('SIGCONT');
    expect(await owner.call('signal', { taskId: 1 })).toMatchObject({ aborted: true, reason: { type: 'lease-lost' } });
    expect(await owner.event('lease.lost')).toMatchObject({ taskId: 1 });
    await changesNothing(owner, file);
    expect(await heir.call('write', move)).toHaveProperty('ok');
  });

  test('the handler that it was in ends as lease-lost, with its value', async () => {
    const file = newFile();
    const [owner, heir] = await ownerAndHeir(file);
    const handled = owner.call('hold', request);
    await owner.said('holding');
    await owner.stop();
    await takeOver(file, heir);
    owner.signal('SIGCONT');
    await owner.call('end', { value: 42 });
    expect(await handled).toMatchObject({ err: { type: 'lease-lost', value: 42 } });
    expect(file.leases()).toMatchObject([{ owner: 'reaper' }]);
  });

  test('lease.signal: has fired at the first touch, before any timer of the woken process ran', async () => {
    const file = newFile();
    const [owner, heir] = await ownerAndHeir(file);
    await hold(owner);
    const touched = owner.call('touchAfterStandstill', { taskId: 1 });
    await owner.standsStill();
    await takeOver(file, heir);
    owner.signal('SIGCONT');
    expect(await touched).toMatchObject({ aborted: true, reason: { type: 'lease-lost', reason: 'unverifiable' } });
    await changesNothing(owner, file);
  });

  test('acquireLease: a grant whose reply took longer than the lease is none, and names who has the task by now', async () => {
    const file = newFile();
    const [owner, heir] = await ownerAndHeir(file, { standStillAfter: 'insert into "transition_lease"' });
    const acquired = owner.call('acquire', request);
    await owner.standsStill();
    await takeOver(file, heir);
    owner.signal('SIGCONT');
    expect(await acquired).toMatchObject({ err: { type: 'lease-busy', holder: { actor: 'reaper' } } });
    expect(file.leases()).toMatchObject([{ owner: 'reaper' }]);
    expect(file.account()).toEqual([]);
  });

  test('a renewal whose reply took longer than the lease prolongs no trust', async () => {
    const file = newFile();
    const [owner, heir] = await ownerAndHeir(file, { standStillAfter: 'update "transition_lease"' });
    await owner.call('acquire', request);
    await owner.standsStill();
    await takeOver(file, heir);
    owner.signal('SIGCONT');
    expect(await owner.call('signal', { taskId: 1 })).toMatchObject({ aborted: true });
    expect(await owner.call('release', { taskId: 1 })).toEqual({ ok: 'superseded' });
    expect(file.leases()).toMatchObject([{ owner: 'reaper' }]);
  });

  test('updateStageCas: whom nobody superseded may finish, though its own signal has fired', async () => {
    const file = newFile();
    const [owner] = await ownerAndHeir(file);
    await hold(owner);
    const touched = owner.call('touchAfterStandstill', { taskId: 1 });
    await owner.standsStill();
    await expiry(file);
    owner.signal('SIGCONT');
    expect(await touched).toMatchObject({ aborted: true, reason: { reason: 'unverifiable' } });
    expect(await owner.call('write', move)).toMatchObject({ ok: { to: 'done' } });
    expect(await owner.call('release', { taskId: 1 })).toEqual({ ok: 'released' });
    expect(file.leases()).toEqual([]);
  });

  test('inside its commit it keeps every other writer out; killed there, it has changed nothing', async () => {
    const file = newFile();
    const [owner, heir] = await ownerAndHeir(file, { standStillAfter: 'update "tasks"' });
    await hold(owner);
    void owner.call('write', { ...move, release: true }); // It never ends.
    await owner.standsStill();
    expect(await heir.call('write', move)).toMatchObject({
      err: { type: 'store-failure', kind: 'busy', retryable: true, outcome: 'not-applied' },
    });
    await owner.kill();
    expect(await heir.call('recover', { taskId: 1 })).toMatchObject({ transition: { ok: { to: 'done' } } });
    expect(file.account()).toHaveLength(1);
  });
});

describe('without the guard the same scenario goes wrong', () => {
  /** The claim in the fence no longer counts: any lease on the task will do. */
  const mutants = [['"task_id" = ? and "claim" = ? )', '"task_id" = ? or "claim" = ? )']] as const;

  test('a fence that takes any lease for its own lets the woken owner write under the new one', async () => {
    const file = newFile();
    const [owner, heir] = await ownerAndHeir(file, { mutants });
    await hold(owner);
    await owner.stop();
    await takeOver(file, heir);
    owner.signal('SIGCONT');
    expect(await owner.call('write', move)).toHaveProperty('ok');
    expect(file.account()).toHaveLength(1);
  });

  test('an update by hand writes whoever owns the task', async () => {
    const file = newFile();
    const [owner, heir] = await ownerAndHeir(file);
    await hold(owner);
    await owner.stop();
    await takeOver(file, heir);
    owner.signal('SIGCONT');
    await owner.call('query', { text: `update tasks set stage = 'done' where id = 1` });
    expect(file.account()).toHaveLength(1);
  });
});
