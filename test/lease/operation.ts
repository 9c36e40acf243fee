import {
  acquireLease,
  acquireLeases,
  forceReleaseLease,
  inspectLease,
  ownedBy,
  reclaimStaleLeases,
  shouldDefer,
  snapshot,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import type { TestOwnership } from '../rig/rig.js';
import { TRIES } from '../rig/wire.js';

const DELETE = /^delete from "transition_lease"/;
const READ = /^select .* from "transition_lease"/s;

/** Looking at leases and overruling them. */
export const operation: Proofs = {
  'inspectLease tells a free task from a held one, and changes nothing': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = b.own();
    await ok(acquireLease(a.own(), { taskId: 2, actor: 'monitor' }));
    expect(await ok(inspectLease(own, 1))).toEqual({ state: 'free' });
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor', stage: 'deploy-staging', runId: 9 }));
    const before = rig.leases();
    expect(await ok(inspectLease(own, 1))).toEqual({
      state: 'held',
      verdict: 'live',
      reason: 'process-alive',
      holder: {
        taskId: 1,
        fencingToken: lease.fencingToken,
        claim: lease.claim,
        actor: 'monitor',
        ...a.identity,
        runId: 9,
        stage: 'deploy-staging',
        acquiredAtMs: lease.acquiredAtMs,
        expiresAtMs: lease.expiresAtMs,
        ttlMs: 30_000,
        deadlineAtMs: lease.deadlineAtMs,
      },
    });
    a.kill();
    expect(await ok(inspectLease(own, 1))).toMatchObject({ verdict: 'dead', reason: 'process-gone' });
    expect(rig.leases()).toEqual(before);
  },

  'inspectLease of a store in trouble is a store-failure': async (rig) => {
    const a = rig.start('a');
    a.wire.fault(READ, 'refused');
    expect(await err(inspectLease(a.own(), 1))).toMatchObject({ type: 'store-failure', kind: 'connection' });
  },

  'inspectLease and shouldDefer go by the row that is there: a scope that decides by a context is not asked': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const scope = ({ context }: { readonly context: unknown }) => context === 'guarded';
    await ok(acquireLease(a.own({ scope }), { taskId: 1, actor: 'monitor', context: 'guarded' }));
    const own = b.own({ scope });
    expect(await ok(inspectLease(own, 1))).toMatchObject({ state: 'held', verdict: 'live' });
    expect(await ok(shouldDefer(own, 1))).toMatchObject({ defer: true, reason: 'live-owner' });
    expect(await ok(shouldDefer(own, 2))).toEqual({ defer: false });
  },

  'shouldDefer lets an actor go on only where nobody can be in the way': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = b.own();
    expect(await ok(shouldDefer(own, 1))).toEqual({ defer: false });
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(await ok(shouldDefer(own, 1))).toMatchObject({
      defer: true,
      reason: 'live-owner',
      holder: { claim: lease.claim },
    });
    rig.run("update transition_lease set ttl_ms = 'unreadable'");
    expect(await ok(shouldDefer(own, 1))).toMatchObject({ defer: true, reason: 'unknown-owner' });
    rig.run('update transition_lease set ttl_ms = 30000');
    a.kill();
    expect(await ok(shouldDefer(own, 1))).toEqual({ defer: false });
    b.wire.fault(READ, 'refused');
    expect(await ok(shouldDefer(own, 1))).toEqual({ defer: true, reason: 'store-failure' });
    expect(b.told('action.deferred').map(({ reason }) => reason)).toEqual([
      'live-owner',
      'unknown-owner',
      'store-failure',
    ]);
  },

  'reclaimStaleLeases deletes the leases of the dead, keeps all others, and tells both': async (rig) => {
    const [a, b, c] = [rig.start('a'), rig.start('b'), rig.start('c')];
    const dead = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const live = await ok(acquireLease(b.own(), { taskId: 2, actor: 'monitor' }));
    a.kill();
    const own = c.own();
    const report = await ok(reclaimStaleLeases(own));
    expect(report).toMatchObject({
      reclaimed: [{ claim: dead.claim, actor: 'monitor', verdict: 'dead', reason: 'process-gone' }],
      kept: [{ claim: live.claim }],
    });
    expect(rig.leases()).toMatchObject([{ claim: live.claim }]);
    expect(await ok(reclaimStaleLeases(own))).toMatchObject({ reclaimed: [], kept: [{ claim: live.claim }] });
    expect(c.told('lease.reclaimed')).toHaveLength(1);
  },

  'reclaimStaleLeases looks only at the tasks it is given, at all of them': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    for (const taskId of [1, 2, 3]) await ok(acquireLease(own, { taskId, actor: 'monitor' }));
    a.kill();
    const { reclaimed } = await ok(reclaimStaleLeases(b.own(), { taskIds: [1, 3, 7] }));
    expect(reclaimed.map(({ taskId }) => taskId)).toEqual([1, 3]);
    const others = Array.from({ length: 1_500 }, (_, at) => 10_000 + at);
    const rest = await ok(reclaimStaleLeases(b.own(), { taskIds: [...others, 2] }));
    expect(rest.reclaimed.map(({ taskId }) => taskId)).toEqual([2]);
  },

  'reclaimStaleLeases looks at no more than its limit, the oldest first': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    for (const taskId of [3, 1, 2]) await ok(acquireLease(own, { taskId, actor: 'monitor' }));
    a.kill();
    const { reclaimed } = await ok(reclaimStaleLeases(b.own(), { limit: 2 }));
    expect(reclaimed.map(({ taskId }) => taskId)).toEqual([3, 1]);
  },

  'reclaimStaleLeases reaches a dead lease behind any number of living ones, and snapshot says where it stops': async (
    rig,
  ) => {
    const [a, b, c] = [rig.start('a'), rig.start('b'), rig.start('c')];
    const { bootId, pid, host, start } = a.identity;
    const nowMs = rig.time.databaseMs;
    rig.run(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
       insert into transition_lease (claim, task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start,
         acquired_ms, expires_ms, ttl_ms, deadline_ms)
       select 'live-' || i, i + 100, 'monitor', ?, ?, ?, ?, ?, ?, 30000, ? from n`,
      ...[pid, bootId, host, start, nowMs, nowMs + 30_000, nowMs + 3_600_000],
    );
    const own = b.own();
    expect(await ok(snapshot(own))).toMatchObject({ truncated: false, unreadable: 0 });
    expect(b.wire.matching(READ)).toHaveLength(11);
    const dead = await ok(acquireLease(c.own(), { taskId: 1, actor: 'monitor' }));
    c.kill();
    const seen = await ok(snapshot(own));
    expect([seen.truncated, seen.leases.length]).toEqual([true, 10_000]);
    const { reclaimed, kept } = await ok(reclaimStaleLeases(own, { limit: 1 }));
    expect([reclaimed.map(({ claim }) => claim), kept.length]).toEqual([[dead.claim], 10_000]);
  },

  'a reclaim whose reply was lost is told as what it did, also where no try was answered': async (rig) => {
    const b = rig.start('b');
    const own = b.own();
    for (const times of [1, Number.POSITIVE_INFINITY]) {
      const a = rig.start(`a before ${times} losses`);
      const dead = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
      a.kill();
      b.wire.fault(DELETE, 'reply-lost', times);
      expect(await ok(reclaimStaleLeases(own))).toMatchObject({ reclaimed: [{ claim: dead.claim }], kept: [] });
      b.wire.mend();
      expect(rig.leases()).toEqual([]);
    }
    expect(b.told('lease.reclaimed')).toHaveLength(2);
    expect((await ok(snapshot(own))).counters).toMatchObject({ reclaimed: 2 });
  },

  'a reclaim that may have been applied, and was not, is told as none': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    a.kill();
    b.wire.fault(DELETE, 'connection lost');
    expect(await err(reclaimStaleLeases(b.own()))).toMatchObject({ kind: 'connection', outcome: 'unknown' });
    expect(b.told('lease.reclaimed')).toEqual([]);
    b.wire.mend();
    b.wire.meanwhile(DELETE, async () => {
      rig.run('update transition_lease set expires_ms = expires_ms + 1');
      throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' });
    });
    expect(await ok(reclaimStaleLeases(b.own()))).toMatchObject({ reclaimed: [], kept: [{ taskId: 1 }] });
    expect(b.told('lease.reclaimed')).toEqual([]);
  },

  'reclaimStaleLeases passes over a lease that it cannot delete, and reclaims the rest': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    for (const taskId of [1, 2]) await ok(acquireLease(own, { taskId, actor: 'monitor' }));
    a.kill();
    b.wire.fault(/^delete from "transition_lease"/, 'busy', TRIES);
    const { reclaimed, skipped } = await ok(reclaimStaleLeases(b.own()));
    expect([reclaimed, skipped].map((holders) => holders.map(({ taskId }) => taskId))).toEqual([[2], [1]]);
    b.wire.fault(/^delete from "transition_lease"/, 'refused');
    expect(await err(reclaimStaleLeases(b.own()))).toMatchObject({ type: 'store-failure', kind: 'connection' });
  },

  'reclaimStaleLeases does nothing unless the mode is on': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    a.kill();
    for (const mode of ['draining', 'off'] as const)
      expect(await ok(reclaimStaleLeases(b.own({ mode })))).toEqual({
        reclaimed: [],
        kept: [],
        skipped: [],
        unreadable: 0,
      });
    expect(b.wire.sent).toEqual([]);
  },

  'reclaimStaleLeases goes by the row that is there: a scope that needs a context is not asked without one': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const scope = ({ context }: { readonly context: unknown }): boolean => context === 'our-repository';
    await ok(acquireLease(a.own({ scope }), { taskId: 1, actor: 'monitor', context: 'our-repository' }));
    a.kill();
    const { reclaimed } = await ok(reclaimStaleLeases(b.own({ scope })));
    expect(reclaimed).toHaveLength(1);
  },

  'a lease that nobody knows dead because its database clock was set back ends when it was seen so for a TTL': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a', { host: 'elsewhere' }), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    a.kill();
    rig.time.databaseMs -= 86_400_000;
    const own = b.own();
    expect(await ok(inspectLease(own, 1))).toMatchObject({ verdict: 'live', reason: 'clock-set-back' });
    rig.time.freeze(29_999);
    expect(await ok(inspectLease(own, 1))).toMatchObject({ verdict: 'live', reason: 'clock-set-back' });
    expect(await ok(inspectLease(b.own(), 1))).toMatchObject({ verdict: 'live', reason: 'clock-set-back' });
    rig.time.freeze(1);
    expect(await ok(inspectLease(own, 1))).toMatchObject({ verdict: 'dead', reason: 'expired' });
    await ok(acquireLease(own, { taskId: 1, actor: 'reaper' }));
  },

  'a lease whose process is gone is dead at once, however far the clock of its database was set back': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    a.kill();
    rig.time.databaseMs -= 86_400_000;
    expect(await ok(inspectLease(b.own(), 1))).toMatchObject({ verdict: 'dead', reason: 'process-gone' });
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
  },

  'who would take a lease lowers an expiry that a clock set back has left ahead: to a TTL from now, and no other may':
    async (rig) => {
      const asks = {
        acquireLease: (own) => err(acquireLease(own, { taskId: 1, actor: 'reaper' })),
        acquireLeases: (own) => ok(acquireLeases(own, [{ taskId: 1, actor: 'reaper' }])),
        reclaimStaleLeases: (own) => ok(reclaimStaleLeases(own)),
      } satisfies Record<string, (own: TestOwnership) => Promise<unknown>>;
      for (const [name, ask] of Object.entries(asks)) {
        const a = rig.start(`a before ${name}`, { host: 'elsewhere' });
        await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
        a.kill();
        rig.time.databaseMs -= 86_400_000;
        const before = rig.leases();
        const looker = rig.start(`looker before ${name}`).own();
        await ok(inspectLease(looker, 1));
        await ok(shouldDefer(looker, 1));
        await ok(snapshot(looker));
        expect(rig.leases()).toEqual(before);
        // Whoever asks is new at each try, and has seen nothing before.
        await ask(rig.start(`new before ${name}`).own());
        expect(rig.leases()).toMatchObject([{ expires_ms: rig.time.databaseMs + 30_000 }]);
        rig.time.freeze(29_999);
        expect(await ok(inspectLease(looker, 1))).toMatchObject({ verdict: 'live', reason: 'unexpired' });
        rig.time.freeze(1);
        expect(await ok(reclaimStaleLeases(looker))).toMatchObject({ reclaimed: [{ reason: 'expired' }] });
      }
    },

  'an expiry that is lowered is exactly the one that was seen, and never one within two TTLs': async (rig) => {
    const [a, b] = [rig.start('a', { host: 'elsewhere' }), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.databaseMs -= 30_000;
    const { expiresAtMs } = lease;
    await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(rig.leases()).toMatchObject([{ expires_ms: expiresAtMs }]);
    rig.time.databaseMs -= 86_400_000;
    b.wire.meanwhile(/^update "transition_lease"/, async (run) => {
      rig.run('update transition_lease set expires_ms = expires_ms + 1');
      await run();
    });
    await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(rig.leases()).toMatchObject([{ expires_ms: expiresAtMs + 1 }]);
    b.wire.meanwhile(/^update "transition_lease"/, async (run) => {
      rig.time.databaseMs += 86_430_000;
      await run();
      rig.time.databaseMs -= 86_430_000;
    });
    await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(rig.leases()).toMatchObject([{ expires_ms: expiresAtMs + 1 }]);
    b.wire.meanwhile(/^update "transition_lease"/, async (run) => {
      rig.run("update transition_lease set claim = 'another'");
      await run();
    });
    await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(rig.leases()).toMatchObject([{ claim: 'another', expires_ms: expiresAtMs + 1 }]);
    rig.run(
      "insert into transition_lease (claim, task_id, owner, acquired_ms, expires_ms, ttl_ms) values ('x', 2, 'y', 0, ?, 30000)",
      expiresAtMs + 1,
    );
    rig.run('update transition_lease set deadline_ms = ?', rig.time.databaseMs + 7);
    await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(rig.leases()).toMatchObject([{ expires_ms: rig.time.databaseMs + 7 }, { expires_ms: expiresAtMs + 1 }]);
  },

  'a renewal after the clock was set back starts the observation anew': async (rig) => {
    const [a, b] = [rig.start('a', { host: 'elsewhere' }), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.databaseMs -= 86_400_000;
    const own = b.own();
    expect(await ok(inspectLease(own, 1))).toMatchObject({ reason: 'clock-set-back' });
    await rig.time.advance(15_000);
    expect(await ok(inspectLease(own, 1))).toMatchObject({ verdict: 'live', reason: 'unexpired' });
    rig.run('update transition_lease set expires_ms = expires_ms + 86400000');
    rig.time.forget('a');
    expect(await ok(inspectLease(own, 1))).toMatchObject({ reason: 'clock-set-back' });
    rig.time.freeze(29_999);
    expect(await ok(inspectLease(own, 1))).toMatchObject({ verdict: 'live' });
  },

  'forceReleaseLease takes exactly the acquisition that the operator named, alive or not': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const { signal } = lease;
    const order = { taskId: 1, fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'the deploy hangs' };
    expect(await ok(forceReleaseLease(b.own(), order))).toMatchObject({ claim: lease.claim, actor: 'monitor' });
    expect(rig.leases()).toEqual([]);
    expect(b.told('operator.acted')).toEqual([
      {
        type: 'operator.acted',
        severity: 'warning',
        action: 'force-release',
        taskId: 1,
        fencingToken: lease.fencingToken,
        by: 'ada',
        reason: 'the deploy hangs',
      },
    ]);
    await rig.time.advance(10_000);
    expect(signal.reason).toMatchObject({ type: 'lease-lost', reason: 'gone' });
    expect(await err(forceReleaseLease(b.own(), order))).toMatchObject({ type: 'already-free' });
  },

  'forceReleaseLease of another token than the present one releases nothing and shows the holder': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const order = { taskId: 1, fencingToken: Number(lease.fencingToken) - 1, by: 'ada', reason: 'a guess' };
    expect(await err(forceReleaseLease(own, order))).toMatchObject({
      type: 'token-mismatch',
      holder: { claim: lease.claim },
    });
    expect(rig.leases()).toHaveLength(1);
    expect(a.told('operator.acted')).toEqual([]);
  },

  'forceReleaseLease that races a new acquisition leaves the new owner alone': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const order = { taskId: 1, fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'the deploy hangs' };
    b.wire.meanwhile(/^delete from "transition_lease"/, async (run) => {
      rig.run("update transition_lease set claim = 'another', fencing_token = fencing_token + 5");
      await run();
    });
    expect(await err(forceReleaseLease(b.own(), order))).toMatchObject({
      type: 'token-mismatch',
      holder: { claim: 'another' },
    });
    expect(rig.leases()).toMatchObject([{ claim: 'another' }]);
  },

  'forceReleaseLease whose reply was lost has released': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const order = { taskId: 1, fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'the deploy hangs' };
    b.wire.fault(/^delete from "transition_lease"/, 'reply-lost', 1);
    expect(await ok(forceReleaseLease(b.own(), order))).toMatchObject({ claim: lease.claim });
    expect(b.told('operator.acted')).toHaveLength(1);
  },

  'forceReleaseLease that cannot delete says so, and not that another token holds the task': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.run('create trigger keep before delete on transition_lease begin select raise(ignore); end');
    const order = { taskId: 1, fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'the deploy hangs' };
    const failed = await err(forceReleaseLease(b.own(), order));
    expect(failed).toMatchObject({ type: 'store-failure', retryable: false, outcome: 'not-applied' });
    expect(failed.message).toContain(
      `the lease of monitor (token ${lease.fencingToken}, pid ${a.identity.pid}) is there`,
    );
    expect(b.told('operator.acted')).toEqual([]);
    expect(b.told('store.failed')).toHaveLength(1);
  },

  'forceReleaseLease works under every mode': async (rig) => {
    const a = rig.start('a');
    for (const mode of ['on', 'draining', 'off'] as const) {
      const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
      const order = { taskId: 1, fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'drill' };
      await ok(forceReleaseLease(a.own({ mode }), order));
      expect(rig.leases()).toEqual([]);
    }
  },

  'snapshot tells who holds what, since when and on what evidence, as plain JSON': async (rig) => {
    const [a, b, c] = [rig.start('a'), rig.start('b'), rig.start('c', { host: 'elsewhere' })];
    const own = a.own();
    const mine = await ok(acquireLease(own, { taskId: 1, actor: 'monitor', stage: 'deploy-staging', runId: 9 }));
    await ok(acquireLease(b.own(), { taskId: 2, actor: 'reaper' }));
    await ok(acquireLease(c.own(), { taskId: 3, actor: 'webhook' }));
    b.kill();
    rig.time.freeze(5_000);
    const taken = await ok(snapshot(own));
    expect(taken).toMatchObject({
      mode: 'on',
      at: new Date(rig.time.databaseMs).toISOString(),
      leases: [
        {
          taskId: 1,
          fencingToken: mine.fencingToken,
          actor: 'monitor',
          stage: 'deploy-staging',
          runId: 9,
          pid: a.identity.pid,
          host: 'host',
          bootId: 'boot-a',
          ageMs: 5_000,
          expiresInMs: 25_000,
          verdict: 'live',
          reason: 'claim-registered',
          sameProcess: true,
        },
        { taskId: 2, actor: 'reaper', verdict: 'dead', reason: 'process-gone', sameProcess: false },
        { taskId: 3, actor: 'webhook', verdict: 'live', reason: 'unexpired', sameProcess: false },
      ],
      impossibleQueued: null,
      liveness: 'process-and-heartbeat',
      unfinishedEffects: null,
      counters: { acquired: 1, busy: 0, lost: 0 },
    });
    expect(JSON.parse(JSON.stringify(taken))).toEqual(taken);
    rig.time.freeze(30_000);
    expect((await ok(snapshot(own))).leases).toMatchObject([
      { verdict: 'dead', reason: 'expired', expiresInMs: -5_000 },
      { verdict: 'dead' },
      { verdict: 'dead', reason: 'expired' },
    ]);
  },

  'snapshot counts everything that happened, whatever becomes of the observer': async (rig) => {
    const a = rig.start('a');
    const own = a.own({
      onEvent: () => {
        throw new Error('an observer in trouble');
      },
    });
    await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await err(acquireLease(own, { taskId: 1, actor: 'reaper' }));
    await ok(shouldDefer(own, 1));
    rig.time.freeze(3_600_000);
    await ok(reclaimStaleLeases(own));
    expect((await ok(snapshot(own))).counters).toMatchObject({
      acquired: 1,
      busy: 1,
      deferred: 1,
      reclaimed: 1,
      forced: 1,
      lost: 1,
      released: 0,
    });
  },

  "ownedBy fences any table's write by the lease, in the statement that writes": async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const write = async (note: string) =>
      (await a.db.updateTable('tasks').set({ note }).where('id', '=', 3).where(ownedBy(own, lease)).executeTakeFirst())
        .numUpdatedRows;
    expect(await write('mine')).toBe(1n);
    rig.time.freeze(30_000);
    expect(await write('expired, and nobody else has it')).toBe(1n);
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(await write('late')).toBe(0n);
    expect(rig.task(3)).toMatchObject({ note: 'expired, and nobody else has it' });
  },

  'ownedBy of a lease without a row is true': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ mode: 'off' });
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const written = await a.db
      .updateTable('tasks')
      .set({ note: 'as before' })
      .where('id', '=', 3)
      .where(ownedBy(own, lease))
      .executeTakeFirst();
    expect(written.numUpdatedRows).toBe(1n);
  },
};
