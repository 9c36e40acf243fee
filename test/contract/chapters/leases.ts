import { acquireLease, inspectLease, releaseLease, shouldDefer } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';

/** Acquire and release, one task at a time. */
export function leases(site: Site): void {
  describe('acquireLease', () => {
    test('writes one row that says who holds the task, since when and for how long', async () => {
      const { ownership, identity, told } = site.process({
        lease: { ttlMs: 20_000, renewEveryMs: 5_000, maxHoldMs: 90_000 },
      });
      const request = { taskId: 7, actor: 'monitor', stage: 'deploy', runId: 42 } as const;
      const lease = (await acquireLease(ownership, request))._unsafeUnwrap();
      const [row, ...more] = await site.leases();
      expect(more).toEqual([]);
      expect(row).toMatchObject({
        fencing_token: lease.fencingToken,
        claim: lease.claim,
        task_id: '7',
        owner: 'monitor',
        owner_pid: identity.pid,
        owner_boot_id: identity.bootId,
        owner_host: identity.host,
        owner_start: identity.start,
        run_id: '42',
        stage: 'deploy',
        acquired_ms: lease.acquiredAtMs,
        expires_ms: lease.expiresAtMs,
        deadline_ms: lease.deadlineAtMs,
        ttl_ms: 20_000,
      });
      expect(lease).toMatchObject({ taskId: 7, actor: 'monitor', stage: 'deploy', runId: 42, guarded: true });
      expect(lease.expiresAtMs - lease.acquiredAtMs).toBe(20_000);
      expect(lease.deadlineAtMs - lease.acquiredAtMs).toBe(90_000);
      expect(Math.abs(lease.acquiredAtMs - Date.now())).toBeLessThan(60_000);
      expect(lease.signal.aborted).toBe(false);
      expect(told('lease.acquired')).toHaveLength(1);
    });

    test('says when in UTC, for people', async () => {
      const { ownership } = site.process();
      const lease = (await acquireLease(ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      const [row] = await site.leases();
      const readMs = Date.parse(`${row?.acquired_at.replace(' ', 'T') ?? ''}Z`);
      expect(Math.abs(readMs - lease.acquiredAtMs)).toBeLessThan(5_000);
    });

    test('ends a hold at its bound where that comes before the TTL', async () => {
      const { ownership } = site.process();
      const lease = (await acquireLease(ownership, { taskId: 7, actor: 'monitor', maxHoldMs: 1_000 }))._unsafeUnwrap();
      expect(lease.expiresAtMs).toBe(lease.deadlineAtMs);
      expect(lease.deadlineAtMs - lease.acquiredAtMs).toBe(1_000);
    });

    test('gives tokens that grow although rows go', async () => {
      const { ownership } = site.process();
      const tokens: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const lease = (await acquireLease(ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
        tokens.push(lease.fencingToken ?? Number.NaN);
        expect((await releaseLease(ownership, lease))._unsafeUnwrap()).toBe('released');
      }
      expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    });

    test('refuses a second actor of the same process', async () => {
      const { ownership, told } = site.process();
      const first = (await acquireLease(ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      const second = (await acquireLease(ownership, { taskId: 7, actor: 'reaper' }))._unsafeUnwrapErr();
      expect(second).toMatchObject({ type: 'lease-busy', taskId: 7, verdict: 'live', reason: 'claim-registered' });
      expect(second).toMatchObject({
        holder: { actor: 'monitor', fencingToken: first.fencingToken, claim: first.claim },
      });
      expect(told('lease.busy')).toHaveLength(1);
    });

    test('refuses another process while the holder may be alive', async () => {
      const holder = site.process();
      (await acquireLease(holder.ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      const other = site.process();
      const busy = (await acquireLease(other.ownership, { taskId: 7, actor: 'reaper' }))._unsafeUnwrapErr();
      expect(busy).toMatchObject({ type: 'lease-busy', verdict: 'live', reason: 'unexpired' });
      expect(busy).toMatchObject({ holder: { pid: holder.identity.pid, bootId: holder.identity.bootId } });
      expect(await site.leases()).toHaveLength(1);
    });

    test.each([
      ['expired', 'expire', 'expired'],
      ['past its bound', 'overrun', 'over-budget'],
    ] as const)('takes over a lease that is %s, and tells it', async (_what, end, reason) => {
      const holder = site.process();
      const old = (await acquireLease(holder.ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      await site[end](7);
      const other = site.process();
      const lease = (await acquireLease(other.ownership, { taskId: 7, actor: 'reaper' }))._unsafeUnwrap();
      expect(lease.fencingToken).toBeGreaterThan(old.fencingToken ?? Number.POSITIVE_INFINITY);
      expect(other.told('lease.reclaimed')).toMatchObject([
        { fencingToken: old.fencingToken, verdict: 'dead', reason },
      ]);
      expect(other.told('lease.forced')).toHaveLength(reason === 'over-budget' ? 1 : 0);
      expect(await site.leases()).toMatchObject([{ claim: lease.claim }]);
    });

    test.each([
      ['whose pid is gone', { state: 'gone', start: null }, 'process-gone'],
      ['whose pid another process has', { state: 'exists', start: 'another' }, 'pid-reused'],
    ] as const)('takes over the lease of a process %s', async (_what, sighting, reason) => {
      const holder = site.process();
      (await acquireLease(holder.ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      const other = site.process({ sight: () => sighting });
      expect((await acquireLease(other.ownership, { taskId: 7, actor: 'reaper' })).isOk()).toBe(true);
      expect(other.told('lease.reclaimed')).toMatchObject([{ reason }]);
    });

    test('takes over its own orphan: a row of this process that no claim of it stands behind', async () => {
      const identity = { bootId: 'one', pid: 1, start: 'then', host: 'here' };
      const before = site.process({ identity });
      (await acquireLease(before.ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      const after = site.process({ identity });
      expect((await acquireLease(after.ownership, { taskId: 7, actor: 'monitor' })).isOk()).toBe(true);
      expect(after.told('lease.reclaimed')).toMatchObject([{ reason: 'orphaned' }]);
    });

    test('lets one of many win', async () => {
      const processes = Array.from({ length: 6 }, () => site.process());
      const actors = Array.from({ length: 5 }, (_, at) => `actor-${at}`);
      const asked = processes.flatMap(({ ownership }) =>
        actors.map((actor) => acquireLease(ownership, { taskId: 7, actor })),
      );
      const answers = await Promise.all(asked);
      const won = answers.filter((answer) => answer.isOk());
      expect(won).toHaveLength(1);
      for (const answer of answers) {
        if (answer.isErr()) expect(answer.error).toMatchObject({ type: 'lease-busy' });
      }
      expect(await site.leases()).toMatchObject([{ claim: won[0]?._unsafeUnwrap().claim }]);
    });

    test('lets one of many take over a dead lease', async () => {
      const holder = site.process();
      (await acquireLease(holder.ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(7);
      const processes = Array.from({ length: 6 }, () => site.process());
      const answers = await Promise.all(
        processes.map(({ ownership }) => acquireLease(ownership, { taskId: 7, actor: 'reaper' })),
      );
      expect(answers.filter((answer) => answer.isOk())).toHaveLength(1);
      expect(processes.flatMap(({ told }) => told('lease.reclaimed'))).toHaveLength(1);
    });

    test('remembers a stage that was not named, one that is NULL and one that is empty', async () => {
      const { ownership } = site.process();
      await site.addTask(2, null);
      await site.addTask(3, '');
      const unnamed = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const none = (await acquireLease(ownership, { taskId: 2, actor: 'monitor', stage: null }))._unsafeUnwrap();
      const empty = (await acquireLease(ownership, { taskId: 3, actor: 'monitor', stage: '' }))._unsafeUnwrap();
      expect([unnamed.stage, none.stage, empty.stage]).toEqual(['deploy', null, '']);
      expect((await site.leases()).slice(1).map(({ stage }) => stage)).toEqual([null, '']);
    });
  });

  describe('releaseLease', () => {
    test('deletes the row once, and says so', async () => {
      const { ownership, told } = site.process();
      const lease = (await acquireLease(ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      expect((await releaseLease(ownership, lease))._unsafeUnwrap()).toBe('released');
      expect((await releaseLease(ownership, lease))._unsafeUnwrap()).toBe('already-released');
      expect(await site.leases()).toEqual([]);
      expect(told('lease.released')).toHaveLength(1);
    });

    test("never deletes another's row", async () => {
      const holder = site.process();
      const old = (await acquireLease(holder.ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(7);
      const other = site.process();
      const lease = (await acquireLease(other.ownership, { taskId: 7, actor: 'reaper' }))._unsafeUnwrap();
      expect((await releaseLease(holder.ownership, old))._unsafeUnwrap()).toBe('superseded');
      expect(await site.leases()).toMatchObject([{ claim: lease.claim }]);
    });

    test('deletes a row that expired and that nobody took', async () => {
      const { ownership } = site.process();
      const lease = (await acquireLease(ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      await site.expire(7);
      expect((await releaseLease(ownership, lease))._unsafeUnwrap()).toBe('released');
    });
  });

  describe('inspectLease and shouldDefer', () => {
    test('tell free, held and dead apart, and change nothing', async () => {
      const holder = site.process();
      const other = site.process();
      expect((await inspectLease(other.ownership, 7))._unsafeUnwrap()).toEqual({ state: 'free' });
      expect((await shouldDefer(other.ownership, 7))._unsafeUnwrap()).toEqual({ defer: false });
      (await acquireLease(holder.ownership, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
      expect((await inspectLease(other.ownership, 7))._unsafeUnwrap()).toMatchObject({
        state: 'held',
        verdict: 'live',
      });
      expect((await shouldDefer(other.ownership, 7))._unsafeUnwrap()).toMatchObject({
        defer: true,
        reason: 'live-owner',
      });
      await site.expire(7);
      expect((await inspectLease(other.ownership, 7))._unsafeUnwrap()).toMatchObject({
        state: 'held',
        reason: 'expired',
      });
      expect((await shouldDefer(other.ownership, 7))._unsafeUnwrap()).toEqual({ defer: false });
      expect(await site.leases()).toHaveLength(1);
    });
  });
}
