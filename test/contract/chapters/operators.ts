import { sql } from 'kysely';
import { acquireLease, forceReleaseLease, reclaimStaleLeases, snapshot, updateStageCas } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';

const ORDER = { by: 'ops@example', reason: 'the deploy hangs' } as const;

/** What an operator may do. */
export function operators(site: Site): void {
  describe('a row that nobody can read', () => {
    test('is passed over by a reclaim and by a snapshot, and counted', async () => {
      const { ownership } = site.process();
      for (const taskId of [1, 2, 3]) {
        (await acquireLease(ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap();
        await site.expire(taskId);
      }
      await sql`update transition_lease set task_id = 9007199254740993 where task_id = 2`.execute(site.db);
      const seen = (await snapshot(ownership))._unsafeUnwrap();
      expect([seen.leases.map(({ taskId }) => taskId), seen.unreadable, seen.truncated]).toEqual([[1, 3], 1, false]);
      const { reclaimed, unreadable } = (await reclaimStaleLeases(ownership))._unsafeUnwrap();
      expect([reclaimed.map(({ taskId }) => taskId), unreadable]).toEqual([[1, 3], 1]);
    });
  });

  describe('forceReleaseLease', () => {
    test('takes exactly the acquisition that the operator saw', async () => {
      const holder = site.process();
      const operator = site.process();
      await site.addTask(1, 'deploy');
      const lease = (await acquireLease(holder.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const fencingToken = lease.fencingToken ?? Number.NaN;
      const wrong = await forceReleaseLease(operator.ownership, {
        taskId: 1,
        fencingToken: fencingToken + 1,
        ...ORDER,
      });
      expect(wrong._unsafeUnwrapErr()).toMatchObject({ type: 'token-mismatch', holder: { claim: lease.claim } });
      const taken = await forceReleaseLease(operator.ownership, { taskId: 1, fencingToken, ...ORDER });
      expect(taken._unsafeUnwrap()).toMatchObject({ claim: lease.claim, actor: 'monitor' });
      expect(operator.told('operator.acted')).toMatchObject([{ taskId: 1, fencingToken, ...ORDER }]);
      const again = await forceReleaseLease(operator.ownership, { taskId: 1, fencingToken, ...ORDER });
      expect(again._unsafeUnwrapErr()).toMatchObject({ type: 'already-free' });
      const late = await updateStageCas(holder.ownership, { taskId: 1, expected: 'deploy', next: 'done', lease });
      expect(late._unsafeUnwrapErr()).toMatchObject({ type: 'lease-lost', reason: 'gone' });
      expect(await site.stageOf(1)).toBe('deploy');
    });
  });
}
