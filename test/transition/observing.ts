import { getEventListeners } from 'node:events';
import {
  acquireLease,
  acquireLeases,
  createTransitionOwnership,
  ensureSchema,
  recover,
  releaseLease,
  runEffect,
  shouldDefer,
  snapshot,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { settled } from '../rig/time.js';

const request = { taskId: 1, actor: 'finalizer', stage: 'deploy-staging' } as const;
const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy' } as const;

/** The mode of the first week, what has no row, and the road between the modes. */
export const observing: Proofs = {
  'under observe a free task is taken as under on, and its stage is written by the plain UPDATE': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ mode: 'observe' });
    const lease = await ok(acquireLease(own, request));
    expect(lease.guarded).toBe(true);
    const moved = await ok(updateStageCas(own, { ...move, lease, release: true }));
    expect(moved).toMatchObject({ to: 'deploy', released: true, fencingToken: lease.fencingToken });
    const writes = a.wire.sent.filter(({ sql }) => sql.startsWith('update "tasks"'));
    expect(writes).toHaveLength(1);
    expect(writes[0]?.sql).not.toContain('transition_lease');
    expect(rig.leases()).toEqual([]);
    expect(a.told('would-lose')).toEqual([]);
  },

  'under observe who would be refused goes on without a row, and it is reported with holder, verdict and stage': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const first = await ok(acquireLease(a.own(), request));
    const own = b.own({ mode: 'observe' });
    const handled = withTransitionLease(own, request, async ({ guarded }) => {
      const { unguarded } = await ok(snapshot(own));
      expect(unguarded).toMatchObject([{ taskId: 1, actor: 'finalizer', stage: 'deploy-staging', reason: 'observed' }]);
      return guarded;
    });
    expect(await ok(handled)).toBe(false);
    expect((await ok(snapshot(own))).unguarded).toEqual([]);
    expect(b.told('would-refuse')).toMatchObject([
      {
        severity: 'warning',
        failure: 'lease-busy',
        verdict: 'live',
        stage: 'deploy-staging',
        holder: { actor: 'finalizer', fencingToken: first.fencingToken },
      },
    ]);
    rig.run("update tasks set stage = 'done' where id = 2");
    const many = await ok(
      acquireLeases(own, [
        { ...request, taskId: 2 },
        { taskId: 77, actor: 'webhook' },
      ]),
    );
    expect(many).toMatchObject({ acquired: [{ guarded: false }, { guarded: false }], busy: [], refused: [] });
    expect(b.told('would-refuse').map(({ failure }) => failure)).toEqual(['lease-busy', 'lost-race', 'task-not-found']);
    expect(await ok(shouldDefer(own, 1))).toEqual({ defer: false });
  },

  'under observe a write moves the stage whatever stands there, and what on would have refused is reported': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), request));
    const own = b.own({ mode: 'observe' });
    await ok(updateStageCas(own, { ...move, expected: 'done' }));
    expect(rig.task(1)).toMatchObject({ stage: 'deploy' });
    await ok(updateStageCas(own, { ...move, expected: 'deploy', next: 'done' }));
    expect(b.told('would-lose')).toMatchObject([
      { taskId: 1, expected: 'done', actual: 'deploy-staging', failure: 'lost-race' },
      { taskId: 1, expected: 'deploy', actual: 'deploy', failure: 'lease-busy' },
    ]);
    expect(await err(updateStageCas(own, { ...move, taskId: 77 }))).toMatchObject({ type: 'task-not-found' });
  },

  'under observe a lease that went holds nobody up: it is ensured all the same, and its stage written': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ mode: 'observe' });
    const handled = withTransitionLease(own, request, async (held) => {
      rig.run('delete from transition_lease');
      await ok(held.ensure(1_000));
      return held.updateStage('deploy');
    });
    expect(await ok(handled)).toMatchObject({ to: 'deploy' });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy' });
    expect(a.told('lease.lost')).toMatchObject([{ reason: 'gone' }]);
    expect(a.told('would-lose')).toMatchObject([{ failure: 'lease-lost', actual: 'deploy-staging' }]);
  },

  'under observe a lease table that is not there, and a store in trouble, refuse nothing': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ mode: 'observe' });
    rig.run('drop table transition_lease');
    const handled = withTransitionLease(own, request, (held) => held.updateStage('deploy'));
    expect(await ok(handled)).toMatchObject({ to: 'deploy', fencingToken: null });
    expect(a.told('would-refuse')).toMatchObject([{ failure: 'store-failure' }]);
  },

  'a task that this process holds without a row is busy under on: its handler began under off': async (rig) => {
    const a = rig.start('a');
    let mode: 'off' | 'draining' | 'on' = 'off';
    const own = a.own({ mode: () => mode });
    const lease = await ok(acquireLease(own, request));
    expect((await ok(snapshot(own))).unguarded).toMatchObject([{ taskId: 1, reason: 'off' }]);
    mode = 'draining';
    const waiting = new AbortController();
    const idle = own.idle({ signal: waiting.signal });
    mode = 'on';
    const second = await err(acquireLease(own, { ...request, actor: 'webhook' }));
    expect(second).toMatchObject({ type: 'lease-busy', reason: 'unguarded-here', holder: null });
    expect((await ok(acquireLeases(own, [request]))).busy).toMatchObject([{ reason: 'unguarded-here' }]);
    expect(rig.leases()).toEqual([]);
    await ok(releaseLease(own, lease));
    await ok(idle);
    const next = await ok(acquireLease(own, request));
    const never = own.idle({ signal: waiting.signal });
    waiting.abort();
    expect(await err(never)).toMatchObject({ type: 'not-granting', reason: 'aborted' });
    await ok(releaseLease(own, next));
  },

  'proceed-unguarded opens all the way: the stage is written by compare-and-swap where the lease table is in trouble':
    async (rig) => {
      const own = rig.start('a').own();
      rig.run('drop table transition_lease');
      const lease = await ok(acquireLease(own, { ...request, ifStoreFails: 'proceed-unguarded' }));
      expect(await err(updateStageCas(own, { ...move, expected: 'done', lease }))).toMatchObject({ type: 'lost-race' });
      expect(await ok(updateStageCas(own, { ...move, lease }))).toMatchObject({ to: 'deploy', fencingToken: null });
      // Without such a lease nothing is opened.
      expect(await err(updateStageCas(own, { ...move, expected: 'deploy', next: 'done' }))).toMatchObject({
        type: 'store-failure',
      });
    },

  'under off a journal that is not there counts as empty, which the catalogue says and no read that fails': async (
    rig,
  ) => {
    const a = rig.start('a');
    const own = a.own({ mode: 'off', effects: {} });
    rig.run('drop table if exists transition_effect');
    expect((await ok(snapshot(own))).unfinishedEffects).toBe(0);
    expect(await ok(recover(own, { jobs: 'dead-only' }))).toMatchObject({ transitions: [], complete: true });
    expect(a.wire.sent.filter(({ sql }) => /from "transition_effect"/.test(sql))).toEqual([]);
    expect(a.told('store.failed')).toEqual([]);
    await ok(ensureSchema(own));
    expect((await ok(snapshot(own))).unfinishedEffects).toBe(0);
    expect(a.wire.sent.some(({ sql }) => /from "transition_effect"/.test(sql))).toBe(true);
  },

  'under observe a release that met no row is not said to have happened': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ mode: 'observe' });
    const lease = await ok(acquireLease(own, request));
    rig.run('delete from transition_lease');
    expect(await ok(updateStageCas(own, { ...move, lease, release: true }))).toMatchObject({
      to: 'deploy',
      released: false,
    });
    expect(a.told('lease.released')).toEqual([]);
  },

  'under observe what is acquired before a failure of many is given back': async (rig) => {
    const a = rig.start('a');
    const stop = new AbortController();
    const own = a.own({ mode: 'observe' });
    a.wire.meanwhile(/^insert into "transition_lease"/, async (run) => {
      await run();
      stop.abort();
    });
    const two = [request, { ...request, taskId: 2, signal: stop.signal }];
    expect(await err(acquireLeases(own, two))).toMatchObject({ type: 'not-granting', reason: 'aborted' });
    for (let turn = 0; turn < 50; turn += 1) await settled();
    expect(rig.leases()).toEqual([]);
  },

  'proceed-unguarded hides no owner: passing trouble is returned, and a stage written by no one': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    a.wire.fault(/transition_lease/, 'refused');
    const lease = await ok(acquireLease(own, { ...request, ifStoreFails: 'proceed-unguarded' }));
    const failed = await err(updateStageCas(own, { ...move, lease }));
    expect(failed).toMatchObject({ type: 'store-failure', retryable: true });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
  },

  'idle leaves nothing on a signal that lives on': async (rig) => {
    const own = rig.start('a').own();
    const lease = await ok(acquireLease(own, request));
    const { signal } = new AbortController();
    const waits = [own.idle({ signal }), own.idle({ signal })];
    await ok(releaseLease(own, lease));
    for (const wait of waits) await ok(wait);
    for (let call = 0; call < 20; call += 1) await ok(own.idle({ signal }));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  },

  'a hold that the scope left out says so, and one that spells its id another way is found by one statement': async (
    rig,
  ) => {
    const a = rig.start('a');
    rig.run('create table named (id text collate nocase primary key, stage text, updated_at text)');
    rig.run("insert into named values ('Repo-1', 'deploy-staging', null), ('Repo-2', 'deploy-staging', null)");
    const own = createTransitionOwnership({
      db: a.db,
      ...a.ports,
      onEvent: () => {},
      tasks: { table: 'named', id: 'id', stage: 'stage', idType: 'text' },
      lease: { table: 'named_lease' },
      scope: ({ context }: { context: unknown }) => context === 'in',
    } as never);
    await ok(ensureSchema(own));
    const outside = await ok(acquireLease(own, { taskId: 'REPO-1', actor: 'docs', context: 'out' } as never));
    expect((await ok(snapshot(own))).unguarded).toMatchObject([{ taskId: 'REPO-1', reason: 'out-of-scope' }]);
    const busy = await err(acquireLease(own, { taskId: 'repo-1', actor: 'monitor', context: 'in' } as never));
    expect(busy).toMatchObject({ type: 'lease-busy', reason: 'unguarded-here' });
    expect(rig.read('select * from named_lease')).toEqual([]);
    const before = a.wire.sent.length;
    const other = await ok(acquireLease(own, { taskId: 'repo-2', actor: 'monitor', context: 'in' } as never));
    expect(a.wire.sent.length - before).toBe(
      a.wire.sent.slice(before).filter(({ sql }) => /named_lease/.test(sql)).length,
    );
    await ok(releaseLease(own, other as never));
    await ok(releaseLease(own, outside as never));
  },

  'under observe an effect of one who would be refused is applied and not written down, and the journal is quoted':
    async (rig) => {
      const [a, b] = [rig.start('a'), rig.start('b')];
      const owner = a.own({ effects: {} });
      await ok(ensureSchema(owner));
      const lease = await ok(acquireLease(owner, request));
      await ok(runEffect(owner, lease, { effect: 'merge', key: 'k', apply: () => null }));
      const hangUp = () => Promise.reject(new Error('hang up'));
      await err(runEffect(owner, lease, { effect: 'deploy', key: 'k', apply: hangUp }));
      const before = rig.read('select * from transition_effect order by effect');
      const own = b.own({ effects: {}, mode: 'observe' });
      const applied: string[] = [];
      const handled = withTransitionLease(own, request, async (held) => {
        for (const effect of ['merge', 'deploy', 'tag'])
          await ok(held.runEffect({ effect, key: 'k', apply: () => void applied.push(effect) }));
      });
      await ok(handled);
      expect(applied).toEqual(['merge', 'deploy', 'tag']);
      expect(rig.read('select * from transition_effect order by effect')).toEqual(before);
      expect(b.told('would-skip')).toMatchObject([{ effect: 'merge', key: 'k' }]);
      expect(b.told('would-hold')).toMatchObject([{ effect: 'deploy', key: 'k' }]);
    },

  'under observe a journal in trouble stops no effect of an owner': async (rig) => {
    const a = rig.start('a');
    const own = a.own({ effects: {}, mode: 'observe' });
    await ok(ensureSchema(own));
    rig.run('drop table transition_effect');
    let applied = 0;
    const handled = withTransitionLease(own, request, (held) =>
      held.runEffect({ effect: 'merge', key: 'k', apply: () => void (applied += 1) }),
    );
    expect(await ok(handled)).toMatchObject({ status: 'applied' });
    expect(applied).toBe(1);
    expect(a.told('store.failed')).not.toEqual([]);
  },
};
