import { sql } from 'kysely';
import {
  acquireLease,
  advanceFencingToken,
  forceReleaseLease,
  reclaimStaleLeases,
  snapshot,
  updateStageCas,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';

const ORDER = { by: 'ops@example', reason: 'the deploy hangs' } as const;

/** What an operator may do. */
export function operators(site: Site): void {
  describe('advanceFencingToken', () => {
    test('moves every later token beyond a number, and never back', async () => {
      const { ownership } = site.process();
      const token = async (taskId: number): Promise<number> =>
        (await acquireLease(ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap().fencingToken ?? Number.NaN;
      const first = await token(1);
      const beyond = first + 5_000_000;
      expect((await advanceFencingToken(ownership, { beyond }))._unsafeUnwrap()).toBeGreaterThanOrEqual(beyond);
      const second = await token(2);
      expect(second).toBeGreaterThan(beyond);
      for (const again of [0, first, beyond]) (await advanceFencingToken(ownership, { beyond: again }))._unsafeUnwrap();
      const third = await token(3);
      expect(third).toBeGreaterThan(second);
      (await advanceFencingToken(ownership, { beyond: third }))._unsafeUnwrap();
      expect(await token(4)).toBeGreaterThan(third);
      expect((await site.leases()).map(({ task_id: taskId }) => Number(taskId))).toEqual([1, 2, 3, 4]);
    });
  });

  describe('a row that nobody can read', () => {
    test('is passed over by a reclaim and by a snapshot, and counted', async () => {
      const { ownership } = site.process();
      for (const taskId of [1, 2, 3]) {
        (await acquireLease(ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap();
        await site.expire(taskId);
      }
      // SQLite keeps text in a column for integers; elsewhere such an integer is no safe one.
      const { integer } = site.store.columns;
      const odd = integer === 'integer' ? sql.lit('no integer') : sql.raw('9007199254740993');
      await sql`update transition_lease set task_id = ${odd} where task_id = 2`.execute(site.db);
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
