import { describe, expect, test } from 'vitest';
import type { Setup } from './child/setup.js';
import { type Child, start } from './children.js';
import { newFile } from './file.js';

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8];
const INSERT = 'insert into "transition_lease"';
const DELETE = 'delete from "transition_lease"';

/** Runs a command in all children with each held at the statement that counts, then lets all go at once. */
async function atOnce<T>(children: readonly Child[], command: (child: Child) => Promise<T>): Promise<T[]> {
  const answers = children.map(command);
  await Promise.all(children.map((child) => child.said('parked')));
  await Promise.all(children.map((child) => child.call('proceed')));
  return Promise.all(answers);
}

/** Leaves leases behind whose owner is dead. */
async function abandon(file: string, tasks: readonly number[]): Promise<void> {
  const owner = start({ file });
  for (const taskId of tasks) await owner.call('acquire', { taskId, actor: 'monitor' });
  await owner.kill();
}

/** An heir judges a lease expired; before it can delete it, the owner renews. */
async function judgedAndRenewed(setup: Partial<Setup> = {}): Promise<{ owner: Child; heir: Child; taken: object }> {
  const file = newFile();
  const [owner, heir] = [start({ file: file.path }), start({ file: file.path, parkBefore: DELETE, ...setup })];
  await owner.call('schema');
  void owner.call('hold', { taskId: 1, actor: 'monitor' }); // It never ends.
  await owner.said('holding');
  file.run('update transition_lease set expires_ms = 1');
  const answer = heir.call('acquire', { taskId: 1, actor: 'reaper' });
  await heir.said('parked');
  expect(await owner.call('ensure', { taskId: 1, ms: 1_000 })).toHaveProperty('ok');
  await heir.call('proceed');
  return { owner, heir, taken: await answer };
}

describe('eight processes', () => {
  test('acquireLease: all eight at the insert of one free task: exactly one wins, each round', async () => {
    const rounds = 30;
    const file = newFile(rounds);
    const children = EIGHT.map(() => start({ file: file.path, parkBefore: INSERT }));
    await children[0]?.call('schema');
    for (let taskId = 1; taskId <= rounds; taskId += 1) {
      const answers = await atOnce(children, (child) => child.call('acquire', { taskId, actor: 'monitor' }));
      const winners = answers.flatMap((answer) => ('ok' in answer ? [answer.ok.claim] : []));
      expect(winners).toHaveLength(1);
      const [claim] = winners;
      for (const answer of answers) {
        if ('err' in answer)
          expect(answer.err).toMatchObject({ type: 'lease-busy', verdict: 'live', holder: { claim } });
      }
      expect(file.rows(`select claim from transition_lease where task_id = ${taskId}`)).toEqual([{ claim }]);
    }
  });

  test('acquireLease: eight racers over 200 tasks win each task once, and nothing but busy befalls the others', async () => {
    const tasks = Array.from({ length: 200 }, (_, index) => index + 1);
    const file = newFile(tasks.length);
    const children = EIGHT.map(() => start({ file: file.path }));
    await children[0]?.call('schema');
    await Promise.all(children.map((child) => child.call('identity')));
    const races = await Promise.all(children.map((child) => child.call('race', { tasks })));
    expect(races.flatMap(({ won }) => won).sort((a, b) => a - b)).toEqual(tasks);
    expect(new Set(races.flatMap(({ refused }) => refused))).toEqual(new Set(['lease-busy']));
    const [sum] = file.rows('select count(*) as leases, count(distinct fencing_token) as tokens from transition_lease');
    expect(sum).toEqual({ leases: 200, tokens: 200 });
  });

  test('reclaimStaleLeases: all eight at the delete of one dead lease: exactly one reclaims, each round', async () => {
    const tasks = Array.from({ length: 30 }, (_, index) => index + 1);
    const file = newFile(tasks.length);
    const children = EIGHT.map(() => start({ file: file.path, parkBefore: DELETE }));
    await children[0]?.call('schema');
    await abandon(file.path, tasks);
    for (const taskId of tasks) {
      const answers = await atOnce(children, (child) => child.call('reclaim', { taskIds: [taskId] }));
      const reclaimed = answers.flatMap((answer) => ('ok' in answer ? answer.ok.reclaimed : []));
      expect(reclaimed).toMatchObject([{ taskId, reason: 'process-gone' }]);
    }
    expect(file.leases()).toEqual([]);
    expect(children.flatMap(({ events }) => events.filter(({ type }) => type === 'lease.reclaimed'))).toHaveLength(30);
  });

  test('acquireLease: all eight at the reclaim of one dead owner: one takes over, and nobody deletes the new lease', async () => {
    const tasks = Array.from({ length: 20 }, (_, index) => index + 1);
    const file = newFile(tasks.length);
    const children = EIGHT.map(() => start({ file: file.path, parkBefore: DELETE }));
    await children[0]?.call('schema');
    await abandon(file.path, tasks);
    for (const taskId of tasks) {
      const answers = await atOnce(children, (child) => child.call('acquire', { taskId, actor: 'reaper' }));
      const winners = answers.flatMap((answer) => ('ok' in answer ? [answer.ok.claim] : []));
      expect(winners).toHaveLength(1);
      expect(file.rows(`select claim from transition_lease where task_id = ${taskId}`)).toEqual([
        { claim: winners[0] },
      ]);
    }
  });

  test('acquireLease: a renewal that lands between the judgement and the reclaim wins', async () => {
    const { owner, heir, taken } = await judgedAndRenewed();
    expect(taken).toMatchObject({ err: { type: 'lease-busy', reason: 'process-alive' } });
    expect(await owner.call('ensure', { taskId: 1, ms: 1_000 })).toHaveProperty('ok');
    expect(heir.events.map(({ type }) => type)).not.toContain('lease.reclaimed');
  });

  test('withTransitionLease: four processes with 40 transitions each count to 160 in one column', async () => {
    const file = newFile();
    const children = EIGHT.slice(0, 4).map(() => start({ file: file.path }));
    await children[0]?.call('schema');
    await Promise.all(children.map((child) => child.call('identity')));
    const done = await Promise.all(children.map((child) => child.call('toAndFro', { taskId: 1, times: 40 })));
    expect(file.task()).toEqual({ stage: 'deploy', count: 160 });
    expect(file.account()).toHaveLength(160);
    expect(new Set(done.flatMap(({ failures }) => failures))).toEqual(new Set(['lease-busy']));
    expect(file.leases()).toEqual([]);
  });
});

describe('without the guard the same scenario goes wrong', () => {
  test('look first, then insert where no key stands: all eight win', async () => {
    const file = newFile();
    file.run('create table handmade (task_id integer, owner integer)');
    const children = EIGHT.map(() => start({ file: file.path, parkBefore: '^insert' }));
    await atOnce(children, (child) => child.call('lookThenInsert', { taskId: 1 }));
    expect(file.rows('select count(*) as owners from handmade')).toEqual([{ owners: 8 }]);
  });

  test('a reclaim that does not name the acquisition deletes the lease of the one who reclaimed first', async () => {
    const file = newFile();
    const mutants = [['"claim" = ? and expires_ms = ?', '("claim" = ? or expires_ms > ?)']] as const;
    const [first, second] = [1, 2].map(() => start({ file: file.path, parkBefore: DELETE, mutants }));
    if (first === undefined || second === undefined) throw new Error('two were started');
    await first.call('schema');
    await abandon(file.path, [1]);
    const answers = [first, second].map((child) => child.call('acquire', { taskId: 1, actor: 'reaper' }));
    await Promise.all([first.said('parked'), second.said('parked')]);
    await first.call('proceed');
    expect(await answers[0]).toHaveProperty('ok');
    await second.call('proceed');
    expect(await answers[1]).toHaveProperty('ok');
  });

  test('a reclaim that does not name the expiry that was judged takes a renewed lease away', async () => {
    const { owner, taken } = await judgedAndRenewed({ mutants: [['and expires_ms = ?', 'and expires_ms >= ?']] });
    expect(taken).toHaveProperty('ok');
    expect(await owner.call('ensure', { taskId: 1, ms: 1_000 })).toMatchObject({ err: { type: 'lease-lost' } });
  });

  test('a counter that is read and written back without a lease loses one of two', async () => {
    const file = newFile();
    const children = [1, 2].map(() => start({ file: file.path, parkBefore: '^update' }));
    await atOnce(children, (child) => child.call('countUnguarded', { taskId: 1 }));
    expect(file.task()).toEqual({ stage: 'deploy', count: 1 });
  });
});
