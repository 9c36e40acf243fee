import { acquireLease, createTransitionOwnership, releaseLease, updateStageCas } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';

/** Compare-and-swap of the stage. */
export function stages(site: Site): void {
  describe('updateStageCas without a lease', () => {
    test('moves a task that is where it was expected', async () => {
      const { ownership, told } = site.process();
      await site.addTask(1, 'queued');
      const moved = (
        await updateStageCas(ownership, { taskId: 1, expected: 'queued', next: 'deploy' })
      )._unsafeUnwrap();
      expect(moved).toEqual({ taskId: 1, from: 'queued', to: 'deploy', fencingToken: null, released: false });
      expect(await site.stageOf(1)).toBe('deploy');
      expect(told('stage.changed')).toHaveLength(1);
    });

    test('writes nothing when it loses, and says what the stage is', async () => {
      const { ownership, told } = site.process();
      await site.addTask(1, 'deploy');
      const lost = (
        await updateStageCas(ownership, { taskId: 1, expected: 'queued', next: 'done' })
      )._unsafeUnwrapErr();
      expect(lost).toMatchObject({ type: 'lost-race', taskId: 1, expected: 'queued', actual: 'deploy' });
      expect(await site.stageOf(1)).toBe('deploy');
      expect(told('stage.race-lost')).toHaveLength(1);
      const nobody = (
        await updateStageCas(ownership, { taskId: 99, expected: 'queued', next: 'done' })
      )._unsafeUnwrapErr();
      expect(nobody).toMatchObject({ type: 'task-not-found', taskId: 99 });
    });

    test.each([
      ['the case', 'Run', 'run'],
      ['a trailing space', 'run ', 'run'],
      ['a missing trailing space', 'run', 'run '],
      ['an accent', 'rün', 'run'],
      ['its composition', 'u\u0308', '\u00fc'],
      ['NULL for empty', null, ''],
      ['empty for NULL', '', null],
    ])('takes %s for another stage', async (_what, expected, actual) => {
      const { ownership } = site.process();
      await site.addTask(1, actual);
      const lost = (await updateStageCas(ownership, { taskId: 1, expected, next: 'done' }))._unsafeUnwrapErr();
      expect(lost).toMatchObject({ type: 'lost-race', actual });
      expect(await site.stageOf(1)).toBe(actual);
    });

    test.each([['run '], ['rün'], [''], [null], ["it's"], ['a\\b'], ['%_"`$1?'], ['日本🎉']])(
      'moves to and from the stage %j',
      async (stage) => {
        const { ownership } = site.process();
        await site.addTask(1, 'queued');
        const there = await updateStageCas(ownership, { taskId: 1, expected: 'queued', next: stage });
        expect(there._unsafeUnwrap()).toMatchObject({ to: stage });
        expect(await site.stageOf(1)).toBe(stage);
        const back = await updateStageCas(ownership, { taskId: 1, expected: stage, next: 'queued' });
        expect(back._unsafeUnwrap()).toMatchObject({ from: stage });
        expect(await site.stageOf(1)).toBe('queued');
      },
    );

    test('lets one of many win', async () => {
      await site.addTask(1, 'queued');
      const asked = Array.from({ length: 12 }, (_, at) =>
        updateStageCas(site.process().ownership, { taskId: 1, expected: 'queued', next: `by-${at}` }),
      );
      const answers = await Promise.all(asked);
      expect(answers.filter((answer) => answer.isOk())).toHaveLength(1);
      for (const answer of answers) if (answer.isErr()) expect(answer.error).toMatchObject({ type: 'lost-race' });
    });

    test('moves to the stage that the task is in', async () => {
      const { ownership, told } = site.process();
      await site.addTask(1, 'queued');
      const request = { taskId: 1, expected: 'queued', next: 'queued' };
      for (let times = 0; times < 3; times += 1) expect((await updateStageCas(ownership, request)).isOk()).toBe(true);
      expect(told('stage.changed')).toHaveLength(3);
    });

    test('sets further columns in the same write, and none when it loses', async () => {
      const { ownership } = site.process();
      await site.addTask(1, 'queued');
      const note = async () =>
        (await site.db.selectFrom('tasks').select('note').where('id', '=', 1).executeTakeFirst())?.note;
      void (await updateStageCas(ownership, {
        taskId: 1,
        expected: 'queued',
        next: 'done',
        set: { note: "it's \\ done" },
      }));
      expect(await note()).toBe("it's \\ done");
      void (await updateStageCas(ownership, { taskId: 1, expected: 'queued', next: 'done', set: { note: 'lost' } }));
      expect(await note()).toBe("it's \\ done");
      void (await updateStageCas(ownership, { taskId: 1, expected: 'done', next: 'queued', set: { note: null } }));
      expect(await note()).toBe(null);
    });

    test('does not move a task that somebody holds, unless it is told to', async () => {
      const holder = site.process();
      const { ownership, told } = site.process();
      await site.addTask(1, 'queued');
      const lease = (await acquireLease(holder.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const request = { taskId: 1, expected: 'queued', next: 'done' };
      const busy = (await updateStageCas(ownership, request))._unsafeUnwrapErr();
      expect(busy).toMatchObject({ type: 'lease-busy', holder: { claim: lease.claim }, verdict: 'live' });
      expect(await site.stageOf(1)).toBe('queued');
      expect(told('action.deferred')).toHaveLength(1);
      expect((await updateStageCas(ownership, { ...request, evenIfHeld: true })).isOk()).toBe(true);
      expect(await site.stageOf(1)).toBe('done');
      expect(await site.leases()).toHaveLength(1);
    });

    test('takes a dead holder away and moves the task', async () => {
      const holder = site.process();
      await site.addTask(1, 'queued');
      (await acquireLease(holder.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(1);
      const { ownership, told } = site.process();
      expect((await updateStageCas(ownership, { taskId: 1, expected: 'queued', next: 'done' })).isOk()).toBe(true);
      expect(told('lease.reclaimed')).toMatchObject([{ reason: 'expired' }]);
      expect(await site.leases()).toEqual([]);
    });
  });

  describe('updateStageCas with a lease', () => {
    test('moves the task under its owner', async () => {
      const { ownership } = site.process();
      await site.addTask(1, null);
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const moved = await updateStageCas(ownership, { taskId: 1, expected: null, next: 'deploy', lease });
      expect(moved._unsafeUnwrap()).toMatchObject({ from: null, fencingToken: lease.fencingToken, released: false });
      expect(await site.leases()).toMatchObject([{ claim: lease.claim }]);
      const lost = await updateStageCas(ownership, { taskId: 1, expected: null, next: 'done', lease });
      expect(lost._unsafeUnwrapErr()).toMatchObject({ type: 'lost-race', expected: null, actual: 'deploy' });
    });

    test('writes the stage and gives the lease back in one commit', async () => {
      const { ownership, told } = site.process();
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const request = { taskId: 1, expected: 'deploy', next: 'done', lease, release: true, set: { note: 'x' } };
      expect((await updateStageCas(ownership, request))._unsafeUnwrap()).toMatchObject({ to: 'done', released: true });
      expect(await site.stageOf(1)).toBe('done');
      expect(await site.leases()).toEqual([]);
      expect(told('lease.released')).toHaveLength(1);
      expect((await releaseLease(ownership, lease))._unsafeUnwrap()).toBe('already-released');
    });

    test('gives the lease back although the stage stays what it was', async () => {
      const { ownership } = site.process();
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const request = { taskId: 1, expected: 'deploy', next: 'deploy', lease, release: true };
      expect((await updateStageCas(ownership, request))._unsafeUnwrap()).toMatchObject({ released: true });
      expect(await site.leases()).toEqual([]);
    });

    test('gives the lease back although nothing at all changes in the row', async () => {
      const { db, told } = site.process();
      const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const request = { taskId: 1, expected: 'deploy', next: 'deploy', lease };
      expect((await updateStageCas(ownership, request))._unsafeUnwrap()).toMatchObject({ released: false });
      expect(await site.leases()).toHaveLength(1);
      const released = await updateStageCas(ownership, { ...request, release: true });
      expect(released._unsafeUnwrap()).toMatchObject({ released: true });
      expect(await site.leases()).toEqual([]);
      expect(told('lease.lost')).toEqual([]);
    });

    test('gives nothing back when the race is lost', async () => {
      const { ownership } = site.process();
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const request = { taskId: 1, expected: 'queued', next: 'done', lease, release: true };
      expect((await updateStageCas(ownership, request))._unsafeUnwrapErr()).toMatchObject({ type: 'lost-race' });
      expect(await site.stageOf(1)).toBe('deploy');
      expect(await site.leases()).toMatchObject([{ claim: lease.claim }]);
      expect((await releaseLease(ownership, lease))._unsafeUnwrap()).toBe('released');
    });

    test.each([false, true])('writes nothing once another owner has the task (release: %s)', async (release) => {
      const holder = site.process();
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(holder.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(1);
      const other = site.process();
      const theirs = (await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' }))._unsafeUnwrap();
      const request = { taskId: 1, expected: 'deploy', next: 'done', lease, release };
      const lost = (await updateStageCas(holder.ownership, request))._unsafeUnwrapErr();
      expect(lost).toMatchObject({ type: 'lease-lost', reason: 'superseded', holder: { claim: theirs.claim } });
      expect(lease.signal.aborted).toBe(true);
      expect(holder.told('lease.lost')).toMatchObject([{ reason: 'superseded' }]);
      expect(await site.stageOf(1)).toBe('deploy');
      expect(await site.leases()).toMatchObject([{ claim: theirs.claim }]);
    });

    test.each([false, true])('writes nothing once the lease was given back (release: %s)', async (release) => {
      const { ownership } = site.process();
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      (await releaseLease(ownership, lease))._unsafeUnwrap();
      const request = { taskId: 1, expected: 'deploy', next: 'done', lease, release };
      expect((await updateStageCas(ownership, request))._unsafeUnwrapErr()).toMatchObject({
        type: 'lease-lost',
        reason: 'gone',
      });
      expect(await site.stageOf(1)).toBe('deploy');
    });

    test('lets an owner finish whose lease expired and was taken by nobody', async () => {
      const { ownership } = site.process();
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(1);
      const moved = await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease });
      expect(moved.isOk()).toBe(true);
    });

    test('refuses a stage that went away and came back under another owner', async () => {
      const holder = site.process();
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(holder.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(1);
      const { ownership } = site.process();
      const theirs = (await acquireLease(ownership, { taskId: 1, actor: 'reaper' }))._unsafeUnwrap();
      void (await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease: theirs }));
      void (await updateStageCas(ownership, {
        taskId: 1,
        expected: 'done',
        next: 'deploy',
        lease: theirs,
        release: true,
      }));
      const late = await updateStageCas(holder.ownership, { taskId: 1, expected: 'deploy', next: 'done', lease });
      expect(late._unsafeUnwrapErr()).toMatchObject({ type: 'lease-lost', reason: 'gone' });
      expect(await site.stageOf(1)).toBe('deploy');
    });

    test('tells that the task is not there, and keeps the lease', async () => {
      const { ownership } = site.process();
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      await site.db.deleteFrom('tasks').where('id', '=', 1).execute();
      const request = { taskId: 1, expected: 'deploy', next: 'done', lease, release: true };
      expect((await updateStageCas(ownership, request))._unsafeUnwrapErr()).toMatchObject({ type: 'task-not-found' });
      expect(await site.leases()).toHaveLength(1);
    });
  });
}
