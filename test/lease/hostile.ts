import {
  acquireLease,
  acquireLeases,
  inspectLease,
  type Liveness,
  reclaimStaleLeases,
  releaseLeases,
  shouldDefer,
  snapshot,
  sqliteDialect,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';

const request = { taskId: 1, actor: 'monitor', stage: 'deploy-staging' } as const;
const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy' } as const;

function throws(thrown: unknown): never {
  throw thrown;
}

/** What throws at every touch. */
const untouchable = new Proxy({}, { get: () => throws(new Error('get')), has: () => throws(new Error('has')) });
const revoked = Proxy.revocable({}, {});
revoked.revoke();

/** Code and rows of others at their worst: every public function answers a result and never rejects. */
export const hostile: Proofs = {
  'withTransitionLease answers handler-failed and releases, whatever is thrown': async (rig) => {
    const own = rig.start('a').own();
    for (const thrown of [untouchable, revoked.proxy, undefined, null, '', new Error(''), Symbol('thrown')]) {
      const failure = await err(withTransitionLease(own, request, () => throws(thrown)));
      expect(failure.type).toBe('handler-failed');
      expect(failure.message).toMatch(/^The handler threw: .+\.$/);
      expect(rig.leases()).toEqual([]);
    }
  },

  'a renewal whose answer nobody can read is told, and the next one is sent': async (rig) => {
    let broken = true;
    const unreadable = (text: string) =>
      broken
        ? text.replace(/(returning "claim", |^select "claim", acquired_ms, )expires_ms/, "$1'never' as expires_ms")
        : text;
    const a = rig.start('a', { mutate: unreadable });
    const own = a.own();
    const { signal } = await ok(acquireLease(own, request));
    await rig.time.advance(10_000);
    expect(a.told('lease.renewal-failed')).toMatchObject([
      { message: expect.stringContaining('expires_ms') as string },
    ]);
    broken = false;
    await rig.time.advance(60_000);
    expect(a.told('lease.renewed')).toHaveLength(6);
    expect(signal.aborted).toBe(false);
  },

  'a judge that throws, or answers nonsense, is a probe that failed: the lease lives until it expires': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(b.own(), request));
    const judges = [() => throws(new Error('no judge')), () => undefined, () => ({ verdict: 'zombie', reason: 'x' })];
    for (const judge of judges) {
      const own = a.own({ liveness: { name: 'broken', judge } as unknown as Liveness });
      const unexpired = { verdict: 'live', reason: 'unexpired' };
      expect(await err(acquireLease(own, request))).toMatchObject({ type: 'lease-busy', ...unexpired });
      expect(await ok(inspectLease(own, 1))).toMatchObject(unexpired);
      expect(await ok(shouldDefer(own, 1))).toMatchObject({ defer: true, reason: 'live-owner' });
      expect((await ok(snapshot(own))).leases).toMatchObject([unexpired]);
      expect((await ok(reclaimStaleLeases(own))).reclaimed).toEqual([]);
    }
    rig.time.freeze(30_000);
    const own = a.own({ liveness: { name: 'broken', judge: () => throws(new Error('no judge')) } });
    await ok(acquireLease(own, request));
  },

  'a switch, a scope, a judge or an observer that is async and rejects ends no process, and guards nothing less':
    async (rig) => {
      const rejected: unknown[] = [];
      const hear = (cause: unknown) => void rejected.push(cause);
      process.on('unhandledRejection', hear);
      const rejects = (async () => throws(new Error('not so'))) as never;
      const own = rig.start('a').own({ mode: rejects, scope: rejects, liveness: { name: 'async', judge: rejects } });
      const lease = await ok(acquireLease(own, request));
      expect(lease.guarded).toBe(true);
      const watched = rig.start('b').own({ onEvent: rejects, liveness: { name: 'async', judge: rejects } });
      expect(await err(acquireLease(watched, request))).toMatchObject({ verdict: 'live', reason: 'unexpired' });
      await new Promise(setImmediate);
      process.off('unhandledRejection', hear);
      expect(rejected).toEqual([]);
    },

  'a judge of your own may be a function alone': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), request));
    const asked: unknown[] = [];
    const own = b.own({
      liveness: ({ taskId }, { self }) => {
        asked.push([taskId, self.pid]);
        return { verdict: 'dead', reason: 'no-session' };
      },
    });
    expect(await ok(snapshot(own))).toMatchObject({
      liveness: 'own',
      leases: [{ verdict: 'dead', reason: 'no-session' }],
    });
    expect(asked).toEqual([[1, b.identity.pid]]);
    await ok(acquireLease(own, request));
    expect(b.told('lease.reclaimed')).toMatchObject([{ verdict: 'dead', reason: 'no-session' }]);
  },

  'what a judge of your own answers besides its verdict and reason reaches nobody': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(b.own(), request));
    const judge = () => ({ verdict: 'live', reason: 'unexpired', taskId: 99, holder: null }) as const;
    const own = a.own({ liveness: { name: 'chatty', judge } });
    expect((await ok(snapshot(own))).leases).toMatchObject([{ taskId: 1 }]);
    expect(await ok(inspectLease(own, 1))).toMatchObject({ holder: { taskId: 1 } });
  },

  'a row that no writer of this library wrote is told to the observer, and passed over': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    rig.run(`insert into transition_lease (claim, task_id, owner, acquired_ms, expires_ms, ttl_ms)
      values ('claim', 'no number', 'somebody', 1, 2, 1)`);
    const dead = await ok(acquireLease(b.own(), { taskId: 1, actor: 'monitor' }));
    b.kill();
    expect(await ok(snapshot(own))).toMatchObject({ leases: [{ taskId: 1, verdict: 'dead' }], unreadable: 1 });
    expect(await ok(reclaimStaleLeases(own))).toMatchObject({
      reclaimed: [{ claim: dead.claim }],
      skipped: [],
      unreadable: 1,
    });
    expect(a.told('store.failed')).toMatchObject([{ kind: 'schema' }, { kind: 'schema' }]);
    expect(rig.leases()).toMatchObject([{ claim: 'claim' }]);
  },

  'a lease whose row cannot be read is held, and stops no other acquisition': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    rig.run(`insert into transition_lease (fencing_token, claim, task_id, owner, acquired_ms, expires_ms, ttl_ms)
      values (9007199254740993, 'claim', 2, 'somebody', 1, 2, 1)`);
    rig.run("update sqlite_sequence set seq = 7 where name = 'transition_lease'");
    rig.run('delete from transition_lease where 1 = 0');
    const requests = [1, 2, 3].map((taskId) => ({ taskId, actor: 'monitor' }));
    const many = await ok(acquireLeases(own, [requests[1] ?? { taskId: 2, actor: 'monitor' }]));
    expect(many).toMatchObject({
      acquired: [],
      busy: [{ taskId: 2, holder: null, verdict: 'unknown', reason: 'unreadable' }],
    });
  },

  'an acquisition whose answer nobody can read is a failure of the store, and its claim is in no use': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    rig.run("update sqlite_sequence set seq = 9007199254740992 where name = 'transition_lease'");
    const unreadable = { type: 'store-failure', kind: 'schema', retryable: false, outcome: 'unknown' };
    const failure = await err(acquireLease(own, request));
    expect(failure).toMatchObject(unreadable);
    expect(failure.message).toContain('Column fencing_token must hold a safe integer, and holds 900719925474099');
    expect(await err(acquireLeases(own, [{ taskId: 3, actor: 'monitor' }]))).toMatchObject(unreadable);
    expect(a.claimed).toBe(1);
  },

  'a dialect of your own that throws at an error is a failure of the store, also for who only asks': async (rig) => {
    const classify = () => throws(new Error('no such code'));
    const dialect = { ...(rig.options.dialect ?? sqliteDialect), classify };
    const a = rig.start('a', { dialect });
    const own = a.own();
    rig.run('drop table transition_lease');
    const failure = await err(acquireLease(own, request));
    expect(failure).toMatchObject({ type: 'store-failure', kind: 'other', outcome: 'unknown' });
    expect(failure.message).toContain('no such code');
    for (const asked of [await snapshot(own), await reclaimStaleLeases(own), await updateStageCas(own, move)])
      expect(asked._unsafeUnwrapErr()).toMatchObject({ type: 'store-failure' });
    expect(await ok(shouldDefer(own, 1))).toEqual({ defer: true, reason: 'store-failure' });
    const asked = await err(acquireLeases(own, [request, { ...request, taskId: 2 }]));
    expect(asked).toMatchObject({ type: 'store-failure', kind: 'other', outcome: 'unknown' });
    const unguarded = { actor: 'monitor', ifStoreFails: 'proceed-unguarded' } as const;
    const { acquired } = await ok(acquireLeases(own, [{ ...unguarded, taskId: 3 }]));
    expect(acquired).toMatchObject([{ taskId: 3, guarded: false }]);
    expect(a.registry.size).toBe(0);
  },

  'a list that a verb answers is frozen': async (rig) => {
    const own = rig.start('a').own();
    await ok(acquireLease(own, request));
    const asked = await ok(acquireLeases(own, [request, { ...request, taskId: 2 }]));
    const { leases } = await ok(snapshot(own));
    const { reclaimed, kept, skipped } = await ok(reclaimStaleLeases(own));
    const released = await ok(releaseLeases(own, asked.acquired));
    const lists = [asked, asked.acquired, asked.busy, leases, reclaimed, kept, skipped, released];
    expect(lists.map((list) => Object.isFrozen(list))).toEqual(lists.map(() => true));
  },

  'a transaction of the library that cannot begin or commit is told to the observer, once': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    for (const [times, statement] of [/^begin/, /^commit/].entries()) {
      const lease = await ok(acquireLease(own, request));
      a.wire.fault(statement, 'strange');
      expect(await err(updateStageCas(own, { ...move, lease, release: true }))).toMatchObject({
        type: 'store-failure',
      });
      expect(a.told('store.failed')).toHaveLength(times + 1);
      a.wire.mend();
      rig.run('delete from transition_lease');
    }
  },

  'a statement in a transaction of the library that succeeds at last is not told as failed': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, request));
    a.wire.fault(/^update "tasks"/, 'busy', 2);
    const moved = updateStageCas(own, { ...move, lease, release: true });
    await rig.time.advance(1_000);
    await ok(moved);
    expect(a.told('store.failed')).toEqual([]);
  },
};
