import {
  acquireLease,
  acquireLeases,
  inspectLease,
  type Mode,
  reclaimStaleLeases,
  releaseLease,
  shouldDefer,
  snapshot,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';

const MODES = ['on', 'draining', 'off'] as const;
const request = { taskId: 1, actor: 'finalizer', stage: 'deploy-staging' } as const;
const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy' } as const;

/** What an orchestrator did before there was this library. */
const PLAIN_UPDATE =
  /^update "tasks" set "stage" = \?, "updated_at" = strftime\('%Y-%m-%d %H:%M:%f', .* \/ 1000\.0, 'unixepoch'\) where "id" = \?$/;

/** The kill switch, the scope and the failure policy. */
export const regime: Proofs = {
  'under off a transition is what it was before: one plain UPDATE, and no statement names the lease table': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(b.own(), request));
    const own = a.own({ mode: 'off' });
    rig.run("update tasks set stage = 'done' where id = 1");
    const handled = withTransitionLease(own, request, async (held) => {
      expect(held).toMatchObject({ guarded: false, fencingToken: null, taskId: 1, stage: 'deploy-staging' });
      expect(held.signal.aborted).toBe(false);
      expect(held.expiresAtMs - held.acquiredAtMs).toBe(30_000);
      await ok(held.ensure(86_400_000));
      return held.updateStage('deploy', { release: true });
    });
    expect(await ok(handled)).toMatchObject({ to: 'deploy', fencingToken: null, released: true });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy', updated_at: '2026-01-02 03:04:05.678' });
    await ok(updateStageCas(own, { ...move, taskId: 2, expected: 'done' }));
    expect(rig.task(3)).toMatchObject({ stage: 'deploy-staging' });
    expect(a.wire.sent.map(({ sql }) => sql)).toEqual([
      expect.stringMatching(PLAIN_UPDATE) as string,
      expect.stringMatching(PLAIN_UPDATE) as string,
    ]);
    expect(await ok(inspectLease(own, 1))).toEqual({ state: 'free' });
    expect(await ok(shouldDefer(own, 1))).toEqual({ defer: false });
    expect(await ok(snapshot(own))).toMatchObject({ mode: 'off', leases: [] });
    expect(await ok(reclaimStaleLeases(own))).toMatchObject({ reclaimed: [] });
    expect(a.wire.sent.filter(({ sql }) => sql.includes('transition_lease'))).toEqual([]);
    expect(a.timers).toEqual([]);
    expect(a.registry.size).toBe(0);
  },

  'under off a stage write still tells a task that is not there, and tries again after a lost reply': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ mode: 'off' });
    expect(await err(updateStageCas(own, { ...move, taskId: 77 }))).toMatchObject({ type: 'task-not-found' });
    a.wire.fault(/^update "tasks"/, 'reply-lost', 1);
    expect(await ok(updateStageCas(own, move))).toMatchObject({ to: 'deploy' });
  },

  'under off every actor is granted, side by side, as before': async (rig) => {
    const own = rig.start('a').own({ mode: 'off' });
    const leases = [await ok(acquireLease(own, request)), await ok(acquireLease(own, request))];
    expect(new Set(leases.map(({ claim }) => claim)).size).toBe(2);
    for (const lease of leases)
      expect([await ok(releaseLease(own, lease)), await ok(releaseLease(own, lease))]).toEqual([
        'released',
        'already-released',
      ]);
  },

  'under draining nothing is granted or reclaimed, and holders finish': async (rig) => {
    let mode: Mode = 'on';
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own({ mode: () => mode });
    await ok(acquireLease(b.own(), { taskId: 2, actor: 'monitor' }));
    const handled = withTransitionLease(own, request, async (held) => {
      mode = 'draining';
      expect(await err(acquireLease(own, { taskId: 3, actor: 'reaper' }))).toMatchObject({
        type: 'not-granting',
        reason: 'draining',
      });
      await rig.time.advance(60_000);
      await ok(held.ensure(1_000));
      return held.updateStage('deploy');
    });
    expect(await ok(handled)).toMatchObject({ to: 'deploy', fencingToken: 2 });
    b.kill();
    expect(await err(updateStageCas(own, { ...move, taskId: 2 }))).toMatchObject({
      type: 'lease-busy',
      verdict: 'dead',
    });
    expect(rig.leases()).toHaveLength(1);
    await ok(updateStageCas(own, { ...move, taskId: 3 }));
    expect(await ok(inspectLease(own, 2))).toMatchObject({ verdict: 'dead' });
  },

  'a guarded lease stays fenced, verified and released under every later mode': async (rig) => {
    for (const later of MODES) {
      let mode: Mode = 'on';
      const [a, b] = [rig.start(`a-${later}`), rig.start(`b-${later}`)];
      const own = a.own({ mode: () => mode });
      const lease = await ok(acquireLease(own, request));
      const other = await ok(acquireLease(own, { ...request, taskId: 2 }));
      mode = later;
      await ok(updateStageCas(own, { ...move, lease }));
      expect(await err(updateStageCas(own, { ...move, lease }))).toMatchObject({ type: 'lost-race' });
      expect(await ok(releaseLease(own, lease))).toBe('released');
      rig.time.freeze(30_000);
      const taken = await ok(acquireLease(b.own(), { ...request, taskId: 2 }));
      expect(await err(updateStageCas(own, { ...move, taskId: 2, lease: other }))).toMatchObject({
        type: 'lease-lost',
        holder: { claim: taken.claim },
      });
      expect(rig.task(2)).toMatchObject({ stage: 'deploy-staging' });
      expect(await ok(releaseLease(own, other))).toBe('superseded');
      rig.run('delete from transition_lease');
      rig.run("update tasks set stage = 'deploy-staging'");
    }
  },

  'an unguarded lease writes by plain compare-and-swap once the mode is on again': async (rig) => {
    for (const later of ['on', 'draining'] as const) {
      let mode: Mode = 'off';
      const [a, b] = [rig.start(`a-${later}`), rig.start(`b-${later}`)];
      const own = a.own({ mode: () => mode });
      const lease = await ok(acquireLease(own, request));
      mode = later;
      const holder = await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
      expect(await err(updateStageCas(own, { ...move, lease }))).toMatchObject({
        type: 'lease-busy',
        holder: { claim: holder.claim },
      });
      rig.run('delete from transition_lease');
      expect(await err(updateStageCas(own, { ...move, expected: 'done', lease }))).toMatchObject({ type: 'lost-race' });
      expect(await ok(updateStageCas(own, { ...move, lease, release: true }))).toMatchObject({
        fencingToken: null,
        released: true,
      });
      expect(await ok(releaseLease(own, lease))).toBe('already-released');
      rig.run("update tasks set stage = 'deploy-staging'");
    }
  },

  'the mode is read at every request': async (rig) => {
    let mode: Mode = 'on';
    const own = rig.start('a').own({ mode: () => mode });
    for (mode of ['off', 'draining', 'on', 'draining', 'off', 'on'] as const) {
      const asked = await acquireLease(own, request);
      expect(asked.isOk() ? asked.value.guarded : asked.error.type).toBe(
        { on: true, off: false, draining: 'not-granting' }[mode],
      );
      if (asked.isOk()) await ok(releaseLease(own, asked.value));
    }
  },

  'a mode that throws, or answers nonsense, is on': async (rig) => {
    const a = rig.start('a');
    const broken = [() => throws('no configuration'), () => 'offf' as Mode, () => undefined as unknown as Mode];
    for (const mode of broken) {
      const own = a.own({ mode });
      const lease = await ok(acquireLease(own, request));
      expect(lease.guarded).toBe(true);
      expect((await ok(snapshot(own))).mode).toBe('on');
      await ok(releaseLease(own, lease));
    }
  },

  'a request outside the scope is handled as under off, by its task and by its context': async (rig) => {
    const a = rig.start('a');
    const asked: unknown[] = [];
    const own = a.own({
      scope: (question) => {
        asked.push(question);
        return question.context === 'guarded';
      },
    });
    const outside = await ok(acquireLease(own, { ...request, context: 'other' }));
    expect(outside.guarded).toBe(false);
    await ok(releaseLease(own, outside));
    const inside = await ok(acquireLease(own, { ...request, context: 'guarded' }));
    expect(inside.guarded).toBe(true);
    expect(asked).toEqual([
      { ...request, context: 'other' },
      { ...request, context: 'guarded' },
    ]);
    await ok(updateStageCas(own, { ...move, expected: 'done', context: 'other' }));
    expect(rig.task(1)).toMatchObject({ stage: 'deploy' });
    expect(await err(updateStageCas(own, { ...move, expected: 'deploy', context: 'guarded' }))).toMatchObject({
      type: 'lease-busy',
    });
  },

  'a request without a context is inside the scope, and scope is told all that a request says': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const asked: unknown[] = [];
    const scope = (question: unknown) => {
      asked.push(question);
      return false;
    };
    const own = a.own({ scope });
    const other = b.own();
    const lease = await ok(acquireLease(other, request));
    // A webhook that forgot its context must not write under a live owner.
    expect(await err(updateStageCas(own, move))).toMatchObject({ type: 'lease-busy' });
    expect(await err(acquireLease(own, request))).toMatchObject({ type: 'lease-busy' });
    expect((await ok(acquireLeases(own, [request]))).busy).toHaveLength(1);
    await ok(releaseLease(other, lease));
    const handled = withTransitionLease(own, request, ({ guarded }) => guarded);
    expect(await ok(handled)).toBe(true);
    expect(asked).toEqual([]);

    const context = { repo: 'web' };
    await ok(acquireLease(own, { ...request, context }));
    await ok(acquireLeases(own, [{ taskId: 1, actor: 'monitor', context }]));
    const outside = await ok(acquireLease(own, { taskId: 1, actor: 'reaper', context }));
    await ok(updateStageCas(own, { ...move, context }));
    await ok(updateStageCas(own, { taskId: 1, expected: move.next, next: 'done', lease: outside }));
    expect(asked).toStrictEqual([
      { ...request, context },
      { taskId: 1, stage: undefined, actor: 'monitor', context },
      { taskId: 1, stage: undefined, actor: 'reaper', context },
      { taskId: 1, stage: move.expected, actor: undefined, context },
      { taskId: 1, stage: move.next, actor: 'reaper', context },
    ]);
  },

  'a lease outside the scope stays there: its stage write is the plain one': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ scope: ({ context }) => context === 'guarded' });
    rig.run("update tasks set stage = 'done' where id = 1");
    const handled = withTransitionLease(own, { ...request, context: 'other' }, (held) => held.updateStage('deploy'));
    expect(await ok(handled)).toMatchObject({ to: 'deploy' });
    const lease = await ok(acquireLease(own, { ...request, context: 'other' }));
    await ok(updateStageCas(own, { ...move, next: 'done', lease }));
    expect(a.wire.sent.filter(({ sql }) => !PLAIN_UPDATE.test(sql))).toEqual([]);
  },

  'a scope that throws, or answers nonsense, covers everything': async (rig) => {
    const a = rig.start('a');
    for (const scope of [() => throws('no configuration'), () => undefined as unknown as boolean]) {
      const own = a.own({ scope });
      const lease = await ok(acquireLease(own, request));
      expect(lease.guarded).toBe(true);
      await ok(releaseLease(own, lease));
    }
  },

  'a store in trouble grants nothing, unless the caller chose so for this request': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    a.wire.fault(/transition_lease/, 'refused');
    expect(await err(acquireLease(own, request))).toMatchObject({ type: 'store-failure' });
    const handled = withTransitionLease(own, { ...request, ifStoreFails: 'proceed-unguarded' }, (held) => held.guarded);
    expect(await ok(handled)).toBe(false);
    expect(a.told('store.failed')).not.toEqual([]);
    a.wire.mend();
    await ok(acquireLease(own, { ...request, ifStoreFails: 'proceed-unguarded' }));
    expect(rig.leases()).toHaveLength(1);
  },

  'proceed-unguarded is for a store in trouble: a held task and a draining mode stay what they are': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(b.own(), request));
    const choice = { ...request, ifStoreFails: 'proceed-unguarded' } as const;
    expect(await err(acquireLease(a.own(), choice))).toMatchObject({ type: 'lease-busy' });
    expect(await err(acquireLease(a.own({ mode: 'draining' }), choice))).toMatchObject({ type: 'not-granting' });
  },

  'a row that a lost reply left beside an unguarded lease is an orphan, taken back at once': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    a.wire.fault(/^insert into "transition_lease"/, 'reply-lost');
    a.wire.fault(/^select .* join "transition_lease"/s, 'refused');
    const lease = await ok(acquireLease(own, { ...request, ifStoreFails: 'proceed-unguarded' }));
    expect(lease.guarded).toBe(false);
    expect(rig.leases()).toHaveLength(1);
    a.wire.mend();
    await ok(releaseLease(own, lease));
    const next = await ok(acquireLease(own, request));
    expect(rig.leases()).toMatchObject([{ claim: next.claim }]);
    expect(a.told('lease.reclaimed')).toMatchObject([{ reason: 'orphaned' }]);
  },
};

function throws(message: string): never {
  throw new Error(message);
}
