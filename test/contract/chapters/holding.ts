import { err, ok } from 'neverthrow';
import { acquireLease, acquireLeases, withTransitionLease } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';

const TIMES = { ttlMs: 3_000, renewEveryMs: 1_000, maxHoldMs: 60_000 } as const;

/** What a holder can rely on. */
export function holding(site: Site): void {
  describe('withTransitionLease', () => {
    test('acquires, handles and releases, in that order', async () => {
      const { ownership, told } = site.process();
      await site.addTask(1, 'deploy');
      const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' };
      const done = await withTransitionLease(ownership, request, async (held) => {
        expect(await site.leases()).toMatchObject([{ claim: held.claim, owner: 'finalizer' }]);
        expect((await held.updateStage('done')).isOk()).toBe(true);
        return 42;
      });
      expect(done._unsafeUnwrap()).toBe(42);
      expect(await site.stageOf(1)).toBe('done');
      expect(await site.leases()).toEqual([]);
      expect([told('lease.acquired'), told('stage.changed'), told('lease.released')]).toMatchObject([[{}], [{}], [{}]]);
    });

    test('does not call the handler while somebody else holds the task', async () => {
      const holder = site.process();
      (await acquireLease(holder.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      let calls = 0;
      const { ownership } = site.process();
      const refused = await withTransitionLease(ownership, { taskId: 1, actor: 'reaper' }, () => {
        calls += 1;
      });
      expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'lease-busy' });
      expect(calls).toBe(0);
    });

    test.each([
      ['what it threw', () => Promise.reject(new Error('no')), { type: 'handler-failed', cause: new Error('no') }],
      ['its own error', () => err({ mine: true }), { mine: true }],
    ])('hands on %s, and releases', async (_what, handler: () => unknown, failure) => {
      const { ownership } = site.process();
      const failed = await withTransitionLease(ownership, { taskId: 1, actor: 'monitor' }, handler);
      expect(failed._unsafeUnwrapErr()).toMatchObject(failure);
      expect(await site.leases()).toEqual([]);
    });

    test('never calls it a plain success when the lease was taken meanwhile', async () => {
      const { ownership, told } = site.process();
      const other = site.process();
      const done = await withTransitionLease(ownership, { taskId: 1, actor: 'monitor' }, async () => {
        await site.expire(1);
        (await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' }))._unsafeUnwrap();
        return ok('merged');
      });
      expect(done._unsafeUnwrapErr()).toMatchObject({ type: 'lease-lost', reason: 'superseded', value: 'merged' });
      expect(told('lease.lost')).toHaveLength(1);
      expect(await site.leases()).toMatchObject([{ owner: 'reaper' }]);
    });
  });

  describe('extend', () => {
    test('moves the bound of the hold, counted from its beginning, and renews', async () => {
      const { ownership } = site.process({ lease: TIMES });
      const done = await withTransitionLease(ownership, { taskId: 1, actor: 'deployer' }, async (held) => {
        const longer = (await held.extend(120_000))._unsafeUnwrap();
        const [row] = await site.leases();
        expect(row).toMatchObject({ claim: held.claim, deadline_ms: held.acquiredAtMs + 120_000 });
        expect(longer).toMatchObject({
          claim: held.claim,
          deadlineAtMs: row?.deadline_ms,
          expiresAtMs: row?.expires_ms,
        });
        expect(longer.expiresAtMs).toBeGreaterThanOrEqual(held.expiresAtMs);
        expect(longer.deadlineAtMs - longer.expiresAtMs).toBeGreaterThan(100_000);
        expect(await held.extend(120_000)).toMatchObject({ value: { deadlineAtMs: longer.deadlineAtMs } });
      });
      expect(done.isOk()).toBe(true);
    });

    test('moves nothing of a lease that another owner has', async () => {
      const { ownership } = site.process({ lease: TIMES });
      const other = site.process({ lease: TIMES });
      const done = await withTransitionLease(ownership, { taskId: 1, actor: 'deployer' }, async (held) => {
        await site.expire(1);
        (await acquireLease(other.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
        const before = await site.leases();
        expect((await held.extend(120_000))._unsafeUnwrapErr()).toMatchObject({
          type: 'lease-lost',
          reason: 'superseded',
        });
        expect(await site.leases()).toEqual(before);
      });
      expect(done._unsafeUnwrapErr()).toMatchObject({ type: 'lease-lost' });
    });
  });

  describe('ensure', () => {
    const request = { taskId: 1, actor: 'monitor' } as const;

    test('renews the lease in the database', async () => {
      const process = site.process({ lease: TIMES });
      const done = await withTransitionLease(process.ownership, request, async (lease) => {
        await site.expire(1);
        expect((await lease.ensure(2_000)).isOk()).toBe(true);
        const [row] = await site.leases();
        expect(row?.expires_ms).toBeGreaterThanOrEqual(lease.expiresAtMs);
        expect(row).toMatchObject({ claim: lease.claim, fencing_token: lease.fencingToken });
      });
      expect(done.isOk()).toBe(true);
    });

    test('tells what is left where that is not enough', async () => {
      const process = site.process({ lease: TIMES });
      const done = await withTransitionLease(process.ownership, request, async (lease) => {
        const short = (await lease.ensure(3_001))._unsafeUnwrapErr();
        expect(short).toMatchObject({ type: 'not-enough-time' });
        expect(short).toHaveProperty(
          'remainingMs',
          expect.toSatisfy((ms: number) => ms > 2_000 && ms <= 3_000),
        );
      });
      expect(done.isOk()).toBe(true);
    });

    test('fails once another owner has the task, and fires the signal', async () => {
      const process = site.process({ lease: TIMES });
      const other = site.process();
      const done = await withTransitionLease(process.ownership, request, async (lease) => {
        expect(lease.signal.aborted).toBe(false);
        await site.expire(1);
        const theirs = (await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' }))._unsafeUnwrap();
        expect((await lease.ensure(1))._unsafeUnwrapErr()).toMatchObject({
          type: 'lease-lost',
          reason: 'superseded',
          holder: { claim: theirs.claim },
        });
        expect(lease.signal.aborted).toBe(true);
        expect(lease.signal.reason).toMatchObject({ type: 'lease-lost', reason: 'superseded' });
        return 'late';
      });
      expect(done._unsafeUnwrapErr()).toMatchObject({ type: 'lease-lost', value: 'late' });
    });
  });

  describe('renewal', () => {
    test('moves the expiry of every lease, and nothing else', async () => {
      const process = site.process({ lease: TIMES });
      for (const taskId of [1, 2, 3]) {
        (await acquireLease(process.ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap();
        await site.expire(taskId);
      }
      const before = await site.leases();
      await process.renewed(3);
      const after = await site.leases();
      for (const [at, row] of after.entries()) {
        const old = before[at];
        expect(row.expires_ms).toBeGreaterThan(old?.expires_ms ?? Number.POSITIVE_INFINITY);
        expect({ ...row, expires_ms: 0 }).toEqual({ ...old, expires_ms: 0 });
      }
      expect(process.told('lease.renewed').map(({ expiresAtMs }) => expiresAtMs)).toEqual(
        after.map(({ expires_ms }) => expires_ms),
      );
      expect(process.told('lease.lost')).toEqual([]);
    });

    test('never goes past the bound of the hold', async () => {
      const process = site.process({ lease: { ...TIMES, maxHoldMs: 2_000 } });
      const lease = (await acquireLease(process.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      await process.renewed(1);
      expect(await site.leases()).toMatchObject([{ expires_ms: lease.deadlineAtMs }]);
      await process.time.advance(1_100);
      expect(lease.signal.reason).toMatchObject({ type: 'lease-lost', reason: 'over-budget' });
    });

    test('finds the leases that are gone, and keeps the others', async () => {
      const process = site.process({ lease: TIMES });
      const other = site.process();
      const [first, second, third] = await Promise.all(
        [1, 2, 3].map(async (taskId) =>
          (await acquireLease(process.ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap(),
        ),
      );
      await site.expire(1);
      (await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' }))._unsafeUnwrap();
      await site.remove(2);
      await process.renewed(3);
      expect(first?.signal.reason).toMatchObject({ reason: 'superseded', holder: { actor: 'reaper' } });
      expect(second?.signal.reason).toMatchObject({ reason: 'gone' });
      expect(third?.signal.aborted).toBe(false);
      expect(await site.leases()).toMatchObject([
        { task_id: '3', owner: 'monitor' },
        { task_id: '1', owner: 'reaper' },
      ]);
    });

    test('takes one statement for five hundred leases', async () => {
      const process = site.process({ lease: TIMES });
      await site.addTasks(1_200);
      const many = Array.from({ length: 1_200 }, (_, at) => ({ taskId: at + 1, actor: 'monitor' }));
      expect((await acquireLeases(process.ownership, many))._unsafeUnwrap().acquired).toHaveLength(1_200);
      process.statements.length = 0;
      await process.renewed(1_200);
      expect(process.statements.filter((sql) => /^\s*update/i.test(sql))).toHaveLength(3);
    });
  });
}
