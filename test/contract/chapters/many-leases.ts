import {
  acquireLease,
  acquireLeases,
  reclaimStaleLeases,
  releaseLease,
  releaseLeases,
  snapshot,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';

/** Many leases at once. */
export function manyLeases(site: Site): void {
  describe('acquireLeases and releaseLeases', () => {
    test('take all that are free, tell who holds the others, and give all back', async () => {
      const holder = site.process();
      for (let at = 0; at < 40; at += 1) await site.addTask(40 - at, `s${at}`);
      const old = (await acquireLease(holder.ownership, { taskId: 20, actor: 'monitor' }))._unsafeUnwrap();
      const { ownership, told } = site.process();
      const requests = Array.from({ length: 40 }, (_, at) => ({
        taskId: 40 - at,
        actor: 'reconciler',
        stage: `s${at}`,
        runId: at,
      }));
      const { acquired, busy } = (await acquireLeases(ownership, requests))._unsafeUnwrap();
      expect(acquired.map(({ taskId }) => taskId)).toEqual(
        requests.map(({ taskId }) => taskId).filter((id) => id !== 20),
      );
      expect(busy).toMatchObject([{ taskId: 20, holder: { claim: old.claim }, verdict: 'live' }]);
      const rows = await site.leases();
      expect(rows).toHaveLength(40);
      for (const lease of acquired) {
        expect(rows.find(({ claim }) => claim === lease.claim)).toMatchObject({
          fencing_token: lease.fencingToken,
          task_id: String(lease.taskId),
          stage: lease.stage,
          run_id: String(lease.runId),
          expires_ms: lease.expiresAtMs,
        });
      }
      expect(told('lease.acquired')).toHaveLength(39);
      const outcomes = (await releaseLeases(ownership, acquired))._unsafeUnwrap();
      expect(outcomes).toEqual(acquired.map(() => 'released'));
      expect((await site.leases()).map(({ claim }) => claim)).toEqual([old.claim]);
    });

    test('take over the dead among many', async () => {
      const holder = site.process();
      for (const taskId of [1, 2, 3])
        (await acquireLease(holder.ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(2);
      const { ownership, told } = site.process();
      const requests = [1, 2, 3, 4].map((taskId) => ({ taskId, actor: 'reaper' }));
      const { acquired, busy } = (await acquireLeases(ownership, requests))._unsafeUnwrap();
      expect(acquired.map(({ taskId }) => taskId)).toEqual([2, 4]);
      expect(busy.map(({ taskId }) => taskId)).toEqual([1, 3]);
      expect(told('lease.reclaimed')).toHaveLength(1);
    });

    test('never wait for each other in a ring', async () => {
      const forth = Array.from({ length: 60 }, (_, at) => ({ taskId: at + 1, actor: 'reconciler' }));
      const back = [...forth].reverse();
      const asked = Array.from({ length: 6 }, (_, at) =>
        acquireLeases(site.process().ownership, at % 2 === 0 ? forth : back),
      );
      const answers = (await Promise.all(asked)).map((answer) => answer._unsafeUnwrap());
      const taken = answers.flatMap(({ acquired }) => acquired.map(({ taskId }) => taskId));
      expect(taken.sort((a, b) => a - b)).toEqual(forth.map(({ taskId }) => taskId));
    });

    test('tell of each lease what became of it', async () => {
      const { ownership } = site.process();
      const requests = [1, 2, 3].map((taskId) => ({ taskId, actor: 'monitor' }));
      const { acquired } = (await acquireLeases(ownership, requests))._unsafeUnwrap();
      const [first, second] = acquired;
      if (first === undefined || second === undefined) throw new Error('two leases were granted');
      (await releaseLease(ownership, first))._unsafeUnwrap();
      await site.expire(2);
      const other = site.process();
      (await acquireLease(other.ownership, { taskId: 2, actor: 'reaper' }))._unsafeUnwrap();
      const outcomes = (await releaseLeases(ownership, acquired))._unsafeUnwrap();
      expect(outcomes).toEqual(['already-released', 'superseded', 'released']);
      expect(await site.leases()).toMatchObject([{ task_id: '2', owner: 'reaper' }]);
    });
  });

  describe('reclaimStaleLeases', () => {
    test('deletes the leases of the dead, and no others', async () => {
      const holder = site.process();
      for (const taskId of [1, 2, 3, 4])
        (await acquireLease(holder.ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(2);
      await site.overrun(3);
      const { ownership, told } = site.process();
      const report = (await reclaimStaleLeases(ownership))._unsafeUnwrap();
      expect(report.reclaimed.map(({ taskId, reason }) => [taskId, reason])).toEqual([
        [2, 'expired'],
        [3, 'over-budget'],
      ]);
      expect(report.kept.map(({ taskId }) => taskId)).toEqual([1, 4]);
      expect(told('lease.reclaimed')).toHaveLength(2);
      expect((await reclaimStaleLeases(ownership))._unsafeUnwrap().reclaimed).toEqual([]);
    });

    test('looks only at the tasks that it is told to', async () => {
      const holder = site.process();
      for (const taskId of [1, 2]) (await acquireLease(holder.ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(1);
      await site.expire(2);
      const { ownership } = site.process();
      const report = (await reclaimStaleLeases(ownership, { taskIds: [2, 9] }))._unsafeUnwrap();
      expect(report.reclaimed.map(({ taskId }) => taskId)).toEqual([2]);
      expect((await site.leases()).map(({ task_id }) => task_id)).toEqual(['1']);
    });

    test('reclaims a lease once, in however many processes', async () => {
      const holder = site.process();
      for (let taskId = 1; taskId <= 10; taskId += 1) {
        (await acquireLease(holder.ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap();
        await site.expire(taskId);
      }
      const asked = Array.from({ length: 5 }, () => reclaimStaleLeases(site.process().ownership));
      const reclaimed = (await Promise.all(asked)).flatMap((report) => report._unsafeUnwrap().reclaimed);
      expect(reclaimed.map(({ taskId }) => taskId).sort((a, b) => Number(a) - Number(b))).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
      ]);
    });
  });

  describe('snapshot', () => {
    test('is plain JSON that says who holds what, and on what evidence', async () => {
      const holder = site.process();
      const request = { taskId: 7, actor: 'monitor', stage: 'deploy', runId: 3 };
      const lease = (await acquireLease(holder.ownership, request))._unsafeUnwrap();
      expect((await acquireLease(holder.ownership, { taskId: 7, actor: 'reaper' })).isErr()).toBe(true);
      const seen = (await snapshot(holder.ownership))._unsafeUnwrap();
      expect(JSON.parse(JSON.stringify(seen))).toEqual(seen);
      expect(seen).toMatchObject({ mode: 'on', counters: { acquired: 1, busy: 1, reclaimed: 0 } });
      expect(seen.leases).toMatchObject([
        {
          taskId: 7,
          fencingToken: lease.fencingToken,
          actor: 'monitor',
          stage: 'deploy',
          runId: 3,
          pid: holder.identity.pid,
          host: 'one-host',
          bootId: holder.identity.bootId,
          verdict: 'live',
          reason: 'claim-registered',
          sameProcess: true,
        },
      ]);
      const [first] = seen.leases;
      expect(first?.ageMs).toBeGreaterThanOrEqual(0);
      expect(first?.ageMs).toBeLessThan(20_000);
      expect((first?.ageMs ?? 0) + (first?.expiresInMs ?? 0)).toBe(30_000);
      const other = (await snapshot(site.process().ownership))._unsafeUnwrap();
      expect(other.leases).toMatchObject([{ sameProcess: false, reason: 'unexpired' }]);
    });
  });
}
