import { acquireLease, acquireLeases, releaseLease, snapshot } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { settled } from '../rig/time.js';

const INSERT = /^insert into "transition_lease"/;
const READ = /^select .* join "transition_lease"/s;
const RECLAIM = /^delete from "transition_lease" .*expires_ms/s;

/** Taking a lease. */
export const acquisition: Proofs = {
  'acquireLease takes a free task, and its row says who holds it since when and for how long': async (rig) => {
    const a = rig.start('a');
    const request = { taskId: 1, actor: 'monitor', stage: 'deploy-staging', runId: 77 } as const;
    const lease = await ok(acquireLease(a.own(), request));
    const nowMs = rig.time.databaseMs;
    expect(lease).toMatchObject({
      ...request,
      guarded: true,
      acquiredAtMs: nowMs,
      expiresAtMs: nowMs + 30_000,
      deadlineAtMs: nowMs + 3_600_000,
    });
    expect(Object.isFrozen(lease)).toBe(true);
    expect(lease.signal.aborted).toBe(false);
    expect(rig.leases()).toEqual([
      {
        fencing_token: lease.fencingToken,
        claim: lease.claim,
        task_id: 1,
        owner: 'monitor',
        owner_pid: a.identity.pid,
        owner_boot_id: a.identity.bootId,
        run_id: 77,
        stage: 'deploy-staging',
        acquired_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string,
        owner_host: a.identity.host,
        owner_start: a.identity.start,
        acquired_ms: nowMs,
        expires_ms: nowMs + 30_000,
        ttl_ms: 30_000,
        deadline_ms: nowMs + 3_600_000,
      },
    ]);
  },

  'acquireLease of a task that is not there says so, and leaves nothing': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    for (const stage of [undefined, 'deploy-staging'] as const) {
      const failure = await err(acquireLease(own, { taskId: 77, actor: 'monitor', stage }));
      expect(failure).toMatchObject({ type: 'task-not-found', taskId: 77 });
    }
    expect(a.told('task.not-found')).toMatchObject([{ taskId: 77, actor: 'monitor' }, { taskId: 77 }]);
    expect(await ok(snapshot(own))).toMatchObject({ counters: { tasksNotFound: 2, acquired: 0 } });
    expect([rig.leases(), a.claimed]).toEqual([[], 0]);
  },

  'acquireLease of a task in another stage is a lost race, whoever holds it, and leaves a dead holder alone': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const [own, elsewhere] = [a.own(), { taskId: 1, actor: 'webhook', stage: 'deploy' } as const];
    const lost = { type: 'lost-race', taskId: 1, expected: 'deploy', actual: 'deploy-staging' };
    expect(await err(acquireLease(own, elsewhere))).toMatchObject(lost);
    expect(rig.leases()).toEqual([]);
    const lease = await ok(acquireLease(b.own(), { taskId: 1, actor: 'monitor' }));
    expect(await err(acquireLease(own, elsewhere))).toMatchObject(lost);
    b.kill();
    expect(await err(acquireLease(own, elsewhere))).toMatchObject(lost);
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
    expect(a.told('stage.race-lost')).toHaveLength(3);
    expect([a.told('lease.busy'), a.told('lease.reclaimed'), a.claimed]).toEqual([[], [], 0]);
  },

  'acquireLease without a stage takes the task in any, and the lease says in which': async (rig) => {
    const own = rig.start('a').own();
    rig.run('update tasks set stage = null where id = 2');
    const nowMs = rig.time.databaseMs;
    const times = { expiresAtMs: nowMs + 30_000, deadlineAtMs: nowMs + 3_600_000 };
    for (const [taskId, stage] of [
      [1, 'deploy-staging'],
      [2, null],
    ] as const)
      expect(await ok(acquireLease(own, { taskId, actor: 'monitor' }))).toMatchObject({ taskId, stage, ...times });
    expect(await err(acquireLease(own, { taskId: 3, actor: 'monitor', stage: null }))).toMatchObject({
      type: 'lost-race',
      expected: null,
    });
  },

  'acquireLease compares stages byte by byte, also in a column that folds case': async (rig) => {
    const own = rig.start('a').own();
    rig.run('drop table tasks');
    rig.run('create table tasks (id integer primary key, stage text collate nocase, updated_at text, note text)');
    rig.run("insert into tasks values (1, 'DEPLOY', null, null)");
    const request = { taskId: 1, actor: 'monitor', stage: 'deploy' } as const;
    expect(await err(acquireLease(own, request))).toMatchObject({ type: 'lost-race', actual: 'DEPLOY' });
    const { refused } = await ok(acquireLeases(own, [request]));
    expect(refused).toMatchObject([{ type: 'lost-race', actual: 'DEPLOY' }]);
  },

  'acquireLease looks at no task under off, nor out of scope': async (rig) => {
    const a = rig.start('a');
    const request = { taskId: 77, actor: 'monitor', stage: 'done', context: 'elsewhere' } as const;
    for (const own of [a.own({ mode: 'off' }), a.own({ scope: () => false })])
      expect((await ok(acquireLease(own, request))).guarded).toBe(false);
    expect(a.wire.sent).toEqual([]);
  },

  'acquireLease takes no task twice: the second asks in vain and learns who holds it, and why that counts': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const busy = await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(busy).toMatchObject({
      type: 'lease-busy',
      taskId: 1,
      verdict: 'live',
      reason: 'process-alive',
      holder: { claim: lease.claim, fencingToken: lease.fencingToken, actor: 'monitor', pid: a.identity.pid },
    });
    expect(b.told('lease.busy')).toMatchObject([{ taskId: 1, actor: 'reaper', verdict: 'live' }]);
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
    expect(b.registry.size).toBe(0);
  },

  'acquireLease that asks in vain writes nothing: it uses up no token': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const { fencingToken } = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    for (const stage of [undefined, 'deploy-staging'] as const)
      await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper', stage }));
    const next = await ok(acquireLease(b.own(), { taskId: 2, actor: 'reaper' }));
    expect(next.fencingToken).toBe(Number(fencingToken) + 1);
  },

  'acquireLease lets two actors of one process contend, without re-entrancy': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    for (const actor of ['reaper', 'monitor'])
      expect(await err(acquireLease(own, { taskId: 1, actor }))).toMatchObject({
        type: 'lease-busy',
        reason: 'claim-registered',
      });
  },

  'acquireLease lets one of many that ask at once win': async (rig) => {
    const processes = ['a', 'b', 'c', 'd'].map((name) => rig.start(name));
    const asked = processes.flatMap((process) => {
      const own = process.own();
      return ['monitor', 'reaper'].map((actor) => acquireLease(own, { taskId: 1, actor }));
    });
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer.isOk())).toHaveLength(1);
    expect(rig.leases()).toHaveLength(1);
    expect(processes.flatMap((process) => process.told('store.failed'))).toEqual([]);
    expect(processes.flatMap((process) => process.told('lease.busy'))).toHaveLength(7);
  },

  'acquireLease holds different tasks side by side': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    for (const taskId of [1, 2, 3]) await ok(acquireLease(own, { taskId, actor: 'monitor' }));
    expect(rig.leases().map((row) => row['task_id'])).toEqual([1, 2, 3]);
  },

  'a fencing token grows with every acquisition, also after the table was empty': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    let last = 0;
    for (let times = 0; times < 4; times += 1) {
      const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
      expect(lease.fencingToken).toBeGreaterThan(last);
      last = lease.fencingToken ?? 0;
      await ok(releaseLease(own, lease));
      expect(rig.leases()).toEqual([]);
    }
  },

  'acquireLease reclaims a lease that has expired, and reports it': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const first = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(29_999);
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    rig.time.freeze(1);
    const second = await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(second.fencingToken).toBeGreaterThan(first.fencingToken ?? 0);
    expect(rig.leases()).toMatchObject([{ claim: second.claim }]);
    expect(b.told('lease.reclaimed')).toEqual([
      {
        type: 'lease.reclaimed',
        severity: 'alert',
        taskId: 1,
        fencingToken: first.fencingToken,
        actor: 'monitor',
        // Where no INSERT returns its row, a lease that named no stage has none written down.
        stage: expect.toBeOneOf(['deploy-staging', null]) as unknown,
        runId: null,
        pid: 102,
        host: 'host',
        ageMs: 30_000,
        verdict: 'dead',
        reason: 'expired',
      },
    ]);
    expect(b.told('lease.forced')).toEqual([]);
  },

  'acquireLease takes a lease that passed its deadline from a process that still renews, and calls it forced': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor', maxHoldMs: 60_000 }));
    await rig.time.advance(59_999);
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    await rig.time.advance(1);
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(b.told('lease.forced')).toMatchObject([{ taskId: 1, reason: 'over-budget', severity: 'alert' }]);
  },

  'acquireLease takes a lease that passed its deadline, though its expiry is none that anybody could read': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.run("update transition_lease set expires_ms = 'never', deadline_ms = 1");
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(b.told('lease.forced')).toMatchObject([{ taskId: 1, reason: 'over-budget' }]);
  },

  'acquireLease reclaims at once from a process of its host that is gone': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    a.kill();
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(b.told('lease.reclaimed')).toMatchObject([{ reason: 'process-gone' }]);
  },

  'acquireLease waits for the expiry of a process on another host, whatever has its pid here': async (rig) => {
    const [a, b] = [rig.start('a', { host: 'elsewhere' }), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    a.kill();
    const busy = await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(busy).toMatchObject({ verdict: 'live', reason: 'unexpired' });
    rig.time.freeze(30_000);
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
  },

  'the wall clock of an observer ends no lease: the clock of the database does': async (rig) => {
    const [a, b] = [rig.start('a', { host: 'elsewhere' }), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.setWall(3_600_000);
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    rig.time.setWall(-7_200_000);
    rig.time.databaseMs += 30_000;
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
  },

  'a renewal that lands between the judgement and the reclaim wins': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(30_000);
    b.wire.meanwhile(RECLAIM, async (run) => {
      rig.run('update transition_lease set expires_ms = expires_ms + 30000 where claim = ?', lease.claim);
      await run();
    });
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
    expect(b.told('lease.reclaimed')).toEqual([]);
  },

  'an acquisition that lands between the judgement and the reclaim is left alone': async (rig) => {
    const [a, b, c] = [rig.start('a'), rig.start('b'), rig.start('c')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(30_000);
    let winner = '';
    b.wire.meanwhile(RECLAIM, async (run) => {
      winner = (await ok(acquireLease(c.own(), { taskId: 1, actor: 'webhook' }))).claim;
      await run();
    });
    const busy = await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    expect(busy).toMatchObject({ type: 'lease-busy', holder: { claim: winner } });
    expect(rig.leases()).toMatchObject([{ claim: winner }]);
    expect([...b.told('lease.reclaimed'), ...c.told('lease.reclaimed')]).toHaveLength(1);
  },

  'an acquisition that expires at the very instant that was judged is left alone': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    a.kill();
    b.wire.meanwhile(RECLAIM, async (run) => {
      rig.run("update transition_lease set claim = 'another', owner_host = 'elsewhere'");
      await run();
    });
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    expect(rig.leases()).toMatchObject([{ claim: 'another' }]);
  },

  'of two that judge the same dead lease, one reclaims and one owns': async (rig) => {
    const [a, b, c] = [rig.start('a'), rig.start('b'), rig.start('c')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    a.kill();
    const held = b.wire.hold(RECLAIM);
    const slow = acquireLease(b.own(), { taskId: 1, actor: 'reaper' });
    await held.arrived;
    const lease = await ok(acquireLease(c.own(), { taskId: 1, actor: 'webhook' }));
    held.letThrough();
    expect(await err(slow)).toMatchObject({ type: 'lease-busy', holder: { claim: lease.claim } });
    expect([...b.told('lease.reclaimed'), ...c.told('lease.reclaimed')]).toHaveLength(1);
  },

  'acquireLease gives up after a few tries on a task that changes hands under its eyes': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const [other, own] = [a.own(), b.own()];
    let lease = await ok(acquireLease(other, { taskId: 1, actor: 'monitor' }));
    for (let times = 0; times < 20; times += 1)
      b.wire.meanwhile(READ, async (run) => {
        await ok(releaseLease(other, lease));
        await run();
        lease = await ok(acquireLease(other, { taskId: 1, actor: 'monitor' }));
      });
    expect(await err(acquireLease(own, { taskId: 1, actor: 'reaper' }))).toMatchObject({
      type: 'lease-busy',
      holder: null,
      verdict: 'unknown',
      reason: 'contended',
    });
    expect(b.wire.matching(INSERT)).toHaveLength(4);
    expect(b.registry.size).toBe(0);
  },

  'acquireLease whose reply was lost finds its row by the claim and holds it': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    a.wire.fault(INSERT, 'reply-lost', 1);
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(rig.leases()).toMatchObject([{ claim: lease.claim, fencing_token: lease.fencingToken }]);
    expect(await err(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    await rig.time.advance(60_000);
    expect(lease.signal.aborted).toBe(false);
  },

  'acquireLease whose connection was refused tries again with the same claim': async (rig) => {
    const a = rig.start('a');
    a.wire.fault(INSERT, 'refused', 3);
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(a.wire.matching(INSERT).map(({ parameters }) => parameters[0])).toEqual(Array(4).fill(lease.claim));
    expect(a.told('store.failed')).toEqual([]);
  },

  'acquireLease whose every reply was lost and whose row cannot be read says that the outcome is unknown': async (
    rig,
  ) => {
    const a = rig.start('a');
    a.wire.fault(INSERT, 'reply-lost');
    a.wire.fault(READ, 'refused');
    expect(await err(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }))).toMatchObject({
      type: 'store-failure',
      kind: 'connection',
      outcome: 'unknown',
    });
    expect(a.registry.size).toBe(0);
    expect(a.timers).toEqual([]);
  },

  'acquireLease whose reply was lost once and whose row cannot be read says that the outcome is unknown': async (
    rig,
  ) => {
    const a = rig.start('a');
    a.wire.fault(INSERT, 'reply-lost', 1);
    a.wire.fault(READ, 'refused');
    const failed = await err(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(failed).toMatchObject({ type: 'store-failure', kind: 'connection', outcome: 'unknown' });
    expect(failed.message).toContain('the outcome is unknown');
    expect(rig.leases()).toHaveLength(1);
    expect(a.registry.size).toBe(0);
  },

  'acquireLease whose insert broke in an unknown way finds its row by the claim': async (rig) => {
    const a = rig.start('a');
    a.wire.meanwhile(INSERT, async (run) => {
      await run();
      throw new Error('an error of an unknown kind');
    });
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
  },

  'acquireLease whose insert broke in an unknown way and left no row is a store-failure of unknown outcome': async (
    rig,
  ) => {
    const a = rig.start('a');
    a.wire.fault(INSERT, 'strange');
    expect(await err(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }))).toMatchObject({
      type: 'store-failure',
      kind: 'other',
      outcome: 'unknown',
    });
    expect(a.registry.size).toBe(0);
  },

  'a row whose acquisition could not be told is an orphan: its process takes it back at once': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    a.wire.fault(INSERT, 'reply-lost');
    a.wire.fault(READ, 'refused');
    const failed = await err(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    expect(failed).toMatchObject({ type: 'store-failure', outcome: 'unknown' });
    expect(rig.leases()).toHaveLength(1);
    a.wire.mend();
    await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    expect(a.told('lease.reclaimed')).toMatchObject([{ reason: 'orphaned' }]);
  },

  'a lease that was adopted after long is renewed before it is granted': async (rig) => {
    const a = rig.start('a');
    a.wire.meanwhile(INSERT, async (run) => {
      await run();
      rig.time.freeze(20_000);
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    });
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(lease.expiresAtMs - rig.time.databaseMs).toBe(30_000);
    rig.time.freeze(26_999);
    expect(lease.signal.aborted).toBe(false);
    rig.time.freeze(1);
    expect(lease.signal.reason).toMatchObject({ type: 'lease-lost', reason: 'unverifiable' });
  },

  'a lease that was adopted keeps the bound of its hold, be it shorter than its TTL': async (rig) => {
    const a = rig.start('a');
    a.wire.fault(INSERT, 'reply-lost', 1);
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor', maxHoldMs: 1_000 }));
    rig.time.freeze(999);
    expect(lease.signal.aborted).toBe(false);
    rig.time.freeze(1);
    expect(lease.signal.reason).toMatchObject({ type: 'lease-lost', reason: 'over-budget' });
  },

  'a slow answer shortens the trust of a lease and never stretches it': async (rig) => {
    const a = rig.start('a');
    a.wire.meanwhile(INSERT, async (run) => {
      await run();
      rig.time.freeze(3_000);
    });
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(23_999);
    expect(lease.signal.aborted).toBe(false);
    rig.time.freeze(1);
    expect(lease.signal.reason).toMatchObject({ reason: 'unverifiable' });
  },

  'a lease whose answer came when it was nearly over is renewed before it is granted': async (rig) => {
    const a = rig.start('a');
    a.wire.meanwhile(INSERT, async (run) => {
      await run();
      rig.time.freeze(29_999);
    });
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(lease.expiresAtMs - rig.time.databaseMs).toBe(30_000);
    rig.time.freeze(26_999);
    expect(lease.signal.aborted).toBe(false);
  },

  'a lease that another took before it could be granted is not granted': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    a.wire.meanwhile(INSERT, async (run) => {
      await run();
      rig.time.freeze(30_000);
      await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    });
    expect(await err(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }))).toMatchObject({
      type: 'lease-busy',
      holder: { actor: 'reaper' },
    });
    expect(a.told('lease.acquired')).toEqual([]);
  },

  'acquireLease does not ask when its signal has fired, and gives back what came after it fired': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const fired = AbortSignal.abort();
    expect(await err(acquireLease(own, { taskId: 1, actor: 'monitor', signal: fired }))).toMatchObject({
      type: 'not-granting',
      reason: 'aborted',
    });
    expect(a.wire.matching(INSERT)).toEqual([]);

    const controller = new AbortController();
    a.wire.meanwhile(INSERT, async (run) => {
      await run();
      controller.abort();
    });
    expect(await err(acquireLease(own, { taskId: 1, actor: 'monitor', signal: controller.signal }))).toMatchObject({
      type: 'not-granting',
      reason: 'aborted',
    });
    // The answer comes at once, and what came late goes by itself.
    while (a.registry.size > 0) await settled();
    expect(rig.leases()).toEqual([]);
  },

  'the signal of a request fires the signal of its lease, with the same reason': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const controller = new AbortController();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor', signal: controller.signal }));
    const other = await ok(acquireLease(own, { taskId: 2, actor: 'monitor', signal: controller.signal }));
    await ok(releaseLease(own, other));
    const before = lease.signal;
    expect(before.aborted).toBe(false);
    controller.abort('the user went away');
    expect(before.reason).toBe('the user went away');
    expect(lease.signal).toBe(before);
    expect(other.signal.aborted).toBe(false);
  },

  'a task that was released while it was asked for is taken': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    b.wire.meanwhile(READ, async (run) => {
      await ok(releaseLease(own, lease));
      await run();
    });
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
  },

  'acquireLease waits out a locked database between its tries, bounded and spread by chance': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    a.wire.fault(INSERT, 'busy', 4);
    await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    expect(rig.time.slept).toEqual([3, 5, 10, 20]);
    a.chance = 0.999;
    a.wire.fault(INSERT, 'busy');
    expect(await err(acquireLease(own, { taskId: 2, actor: 'monitor' }))).toMatchObject({
      type: 'store-failure',
      kind: 'busy',
      retryable: true,
      outcome: 'not-applied',
    });
    expect(a.wire.matching(INSERT)).toHaveLength(5 + 14);
    expect(a.wire.matching(READ).filter(({ parameters }) => parameters[0] === 2)).toEqual([]);
    expect(rig.time.slept.slice(4)).toEqual([5, 10, 20, 40, 80, 160, 250, 250, 250, 250, 250, 250, 185]);
    expect(a.told('store.failed')).toMatchObject([{ kind: 'busy', outcome: 'not-applied' }]);
  },

  'a store that fails in the middle of an acquisition grants nothing and leaves nothing': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    const own = b.own();
    const before = rig.leases();
    b.wire.fault(READ, 'refused');
    expect(await err(acquireLease(own, { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'store-failure' });
    b.wire.mend();
    a.kill();
    b.wire.fault(RECLAIM, 'refused');
    expect(await err(acquireLease(own, { taskId: 1, actor: 'reaper' }))).toMatchObject({ type: 'store-failure' });
    expect(rig.leases()).toEqual(before);
    expect(b.registry.size).toBe(0);
    expect(b.told('lease.reclaimed')).toEqual([]);
  },

  'a try that was refused after a lost reply leaves the outcome unknown': async (rig) => {
    const a = rig.start('a');
    a.wire.fault(INSERT, 'reply-lost', 1);
    a.wire.fault(INSERT, 'busy');
    a.wire.fault(READ, 'busy');
    expect(await err(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }))).toMatchObject({
      type: 'store-failure',
      kind: 'busy',
      outcome: 'unknown',
    });
  },

  'a reply that was lost after a few busy tries is settled like any other': async (rig) => {
    const a = rig.start('a');
    a.wire.fault(INSERT, 'busy', 6);
    a.wire.fault(INSERT, 'reply-lost', 1);
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
  },

  'an error of a statement is no success and no loss: the missing table is told as what it is': async (rig) => {
    const a = rig.start('a');
    await a.db.schema.dropTable('transition_lease').execute();
    expect(await err(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }))).toMatchObject({
      type: 'store-failure',
      kind: 'schema',
      retryable: false,
      outcome: 'not-applied',
    });
    expect(rig.time.slept).toEqual([]);
    await settled();
    expect(a.registry.size).toBe(0);
  },
};
