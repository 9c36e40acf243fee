import {
  acquireLease,
  inspectLease,
  reclaimStaleLeases,
  releaseLease,
  shouldDefer,
  snapshot,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';

type Mode = 'on' | 'draining' | 'off';

/** The kill switch and the scope. */
export function killSwitch(site: Site): void {
  describe('mode off', () => {
    test('names the lease table in no statement, and writes the stage as if there were no library', async () => {
      const { ownership, statements } = site.process({ mode: 'off' });
      await site.addTask(1, 'anything');
      statements.length = 0;
      const request = { taskId: 1, actor: 'monitor', stage: 'deploy' };
      const done = await withTransitionLease(ownership, request, async (held) => {
        expect(held).toMatchObject({ guarded: false, fencingToken: null });
        expect((await held.ensure(1_000)).isOk()).toBe(true);
        expect((await held.updateStage('done')).isOk()).toBe(true);
        return 'applied';
      });
      expect(done._unsafeUnwrap()).toBe('applied');
      expect((await inspectLease(ownership, 1))._unsafeUnwrap()).toEqual({ state: 'free' });
      expect((await shouldDefer(ownership, 1))._unsafeUnwrap()).toEqual({ defer: false });
      expect((await snapshot(ownership))._unsafeUnwrap()).toMatchObject({ mode: 'off', leases: [] });
      expect(statements).toHaveLength(1);
      expect(statements.join()).not.toMatch(/lease|\band\b/i);
      expect(await site.stageOf(1)).toBe('done');
    });
  });

  describe('mode draining', () => {
    test('grants and reclaims nothing, while holders finish', async () => {
      let mode: Mode = 'on';
      const { ownership } = site.process({ mode: () => mode });
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      (await acquireLease(ownership, { taskId: 2, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(2);
      mode = 'draining';
      const refused = (await acquireLease(ownership, { taskId: 3, actor: 'monitor' }))._unsafeUnwrapErr();
      expect(refused).toMatchObject({ type: 'not-granting', reason: 'draining' });
      expect((await reclaimStaleLeases(ownership))._unsafeUnwrap()).toMatchObject({ reclaimed: [], kept: [] });
      const moved = await updateStageCas(ownership, {
        taskId: 1,
        expected: 'deploy',
        next: 'done',
        lease,
        release: true,
      });
      expect(moved.isOk()).toBe(true);
      expect((await site.leases()).map(({ task_id }) => task_id)).toEqual(['2']);
    });
  });

  describe('a switch that is thrown', () => {
    test('leaves a guarded lease fenced, and lets an unguarded one write by comparison', async () => {
      let mode: Mode = 'on';
      const { ownership } = site.process({ mode: () => mode });
      const other = site.process();
      await site.addTask(1, 'deploy');
      await site.addTask(2, 'deploy');
      const guarded = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      mode = 'off';
      const unguarded = (await acquireLease(ownership, { taskId: 2, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(1);
      (await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' }))._unsafeUnwrap();
      const late = await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease: guarded });
      expect(late._unsafeUnwrapErr()).toMatchObject({ type: 'lease-lost', reason: 'superseded' });
      expect((await releaseLease(ownership, guarded))._unsafeUnwrap()).toBe('superseded');
      mode = 'on';
      const raced = await updateStageCas(ownership, { taskId: 2, expected: 'queued', next: 'done', lease: unguarded });
      expect(raced._unsafeUnwrapErr()).toMatchObject({ type: 'lost-race', actual: 'deploy' });
      const moved = await updateStageCas(ownership, { taskId: 2, expected: 'deploy', next: 'done', lease: unguarded });
      expect(moved.isOk()).toBe(true);
      expect(await site.leases()).toMatchObject([{ owner: 'reaper' }]);
    });
  });

  describe('scope', () => {
    test('treats what it leaves out as off, and what it chokes on as on', async () => {
      const { ownership } = site.process({
        scope: ({ context }) => {
          if (context === 'choke') throw new Error('no scope');
          return context !== 'elsewhere';
        },
      });
      const lease = async (taskId: number, context: string): Promise<boolean> =>
        (await acquireLease(ownership, { taskId, actor: 'monitor', context }))._unsafeUnwrap().guarded;
      expect(await lease(1, 'elsewhere')).toBe(false);
      expect(await lease(2, 'here')).toBe(true);
      expect(await lease(3, 'choke')).toBe(true);
      expect((await site.leases()).map(({ task_id }) => task_id)).toEqual(['2', '3']);
    });
  });
}
