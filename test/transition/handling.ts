import { errAsync, err as failed, okAsync, type ResultAsync, ok as worked } from 'neverthrow';
import { acquireLease, releaseLease, updateStageCas, withTransitionLease } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { settled } from '../rig/time.js';
import { TRIES } from '../rig/wire.js';

const DELETE = /^delete from "transition_lease"/;
const RENEWAL = /^update "transition_lease"/;
const request = { taskId: 1, actor: 'finalizer', stage: 'deploy-staging' } as const;

/** Handlers under a lease. */
export const handling: Proofs = {
  'withTransitionLease acquires, handles and releases, in that order': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const seen: unknown[] = [];
    const value = await ok(
      withTransitionLease(own, request, async (held) => {
        seen.push(
          rig.leases().map((row) => row['claim']),
          held.claim,
          held.signal.aborted,
          held.fencingToken,
        );
        await rig.time.advance(60_000);
        return 42;
      }),
    );
    expect(value).toBe(42);
    expect(seen).toEqual([['a-1'], 'a-1', false, 1]);
    expect(rig.leases()).toEqual([]);
    expect(a.events.map(({ type }) => type)).toEqual([
      'lease.acquired',
      ...Array<string>(6).fill('lease.renewed'),
      'lease.released',
    ]);
    expect(a.timers).toEqual([]);
    expect(a.registry.size).toBe(0);
  },

  'withTransitionLease does not call the handler of a task that is held': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), request));
    let called = 0;
    const busy = withTransitionLease(b.own(), request, () => {
      called += 1;
    });
    expect(await err(busy)).toMatchObject({ type: 'lease-busy', holder: { claim: lease.claim } });
    expect(called).toBe(0);
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
  },

  'withTransitionLease does not call the handler when the outcome of its acquisition is unknown': async (rig) => {
    const a = rig.start('a');
    a.wire.fault(/^insert into "transition_lease"/, 'reply-lost');
    a.wire.fault(/^select .* join "transition_lease"/s, 'refused');
    let called = 0;
    const asked = withTransitionLease(a.own(), request, () => {
      called += 1;
    });
    expect(await err(asked)).toMatchObject({ type: 'store-failure', outcome: 'unknown' });
    expect(called).toBe(0);
  },

  'what a handler gives is handed on: a value, a promise, a result, an async result': async (rig) => {
    const own = rig.start('a').own();
    const given: (() => unknown)[] = [
      () => 'value',
      () => Promise.resolve('value'),
      () => worked('value'),
      () => Promise.resolve(worked('value')),
      () => okAsync('value'),
    ];
    for (const handler of given) expect(await ok(withTransitionLease(own, request, handler))).toBe('value');
    const refused: (() => unknown)[] = [
      () => failed('wrong'),
      () => errAsync('wrong'),
      () => Promise.resolve(failed('wrong')),
    ];
    for (const handler of refused) expect(await err(withTransitionLease(own, request, handler))).toBe('wrong');
    expect(rig.leases()).toEqual([]);
  },

  'a handler that throws or rejects is told with its cause, and its lease is released': async (rig) => {
    const own = rig.start('a').own();
    const cause = new Error('the deploy failed');
    const thrown = withTransitionLease(own, request, () => {
      throw cause;
    });
    expect(await err(thrown)).toEqual({
      type: 'handler-failed',
      message: 'The handler threw: the deploy failed.',
      cause,
    });
    const rejected = withTransitionLease(own, request, () => Promise.reject(cause));
    expect(await err(rejected)).toMatchObject({ type: 'handler-failed', cause });
    expect(rig.leases()).toEqual([]);
  },

  'trouble in releasing hides neither the value nor the error of a handler': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const cause = new Error('the deploy failed');
    a.wire.fault(DELETE, 'refused');
    expect(await ok(withTransitionLease(own, request, () => 42))).toBe(42);
    expect(a.told('lease.release-failed')).toHaveLength(1);
    rig.run('delete from transition_lease');
    const thrown = withTransitionLease(own, request, () => Promise.reject(cause));
    expect(await err(thrown)).toMatchObject({ type: 'handler-failed', cause });
    rig.run('delete from transition_lease');
    expect(await err(withTransitionLease(own, request, () => errAsync('wrong')))).toBe('wrong');
    expect(a.told('lease.release-failed')).toHaveLength(3);
    expect(a.timers).toEqual([]);
    expect(rig.leases()).toHaveLength(1);
  },

  'a handler that returned although somebody else took its lease is never a plain success': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    let taken = '';
    const lost = withTransitionLease(a.own(), request, async () => {
      rig.time.freeze(30_000);
      taken = (await ok(acquireLease(b.own(), { ...request, actor: 'reaper' }))).claim;
      return 42;
    });
    expect(await err(lost)).toMatchObject({
      type: 'lease-lost',
      reason: 'superseded',
      holder: { claim: taken },
      value: 42,
    });
    expect(rig.leases()).toMatchObject([{ claim: taken }]);
  },

  'a handler whose row is gone is told so, with its value': async (rig) => {
    const lost = withTransitionLease(rig.start('a').own(), request, () => {
      rig.run('delete from transition_lease');
      return 42;
    });
    expect(await err(lost)).toMatchObject({ type: 'lease-lost', reason: 'gone', value: 42 });
  },

  'a loss that is known is told even if the release fails': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lost = withTransitionLease(a.own(), request, async () => {
      rig.run('delete from transition_lease');
      await ok(acquireLease(b.own(), { ...request, actor: 'reaper' }));
      await rig.time.advance(10_000);
      a.wire.fault(DELETE, 'refused');
      return 42;
    });
    expect(await err(lost)).toMatchObject({ type: 'lease-lost', reason: 'superseded', value: 42 });
  },

  'an error of a handler whose lease was lost is handed on as it is': async (rig) => {
    const own = rig.start('a').own();
    const cause = new Error('the deploy failed');
    const lost = withTransitionLease(own, request, () => {
      rig.run('delete from transition_lease');
      throw cause;
    });
    expect(await err(lost)).toMatchObject({ type: 'handler-failed', cause });
  },

  'a handler that ran past its TTL and whom nobody superseded has its success': async (rig) => {
    const a = rig.start('a');
    const handled = withTransitionLease(a.own(), request, (held) => {
      rig.time.freeze(45_000);
      return held.updateStage('deploy').map(() => 42);
    });
    expect(await ok(handled)).toBe(42);
    expect(rig.task(1)).toMatchObject({ stage: 'deploy' });
    expect(rig.leases()).toEqual([]);
  },

  'nothing is released while a handler runs that ignores its signal': async (rig) => {
    const a = rig.start('a');
    const controller = new AbortController();
    let finish: () => void = () => {};
    const handled = withTransitionLease(a.own(), { ...request, signal: controller.signal }, async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return 42;
    });
    await settled();
    controller.abort();
    await rig.time.advance(120_000);
    expect(rig.leases()).toHaveLength(1);
    expect(a.told('lease.renewed')).toHaveLength(12);
    finish();
    expect(await ok(handled)).toBe(42);
    expect(rig.leases()).toEqual([]);
  },

  'a renewal in flight is not waited for, and revives nothing': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const held = a.wire.hold(RENEWAL);
    const handled = withTransitionLease(own.using(b.db), request, () => rig.time.advance(10_000));
    await ok(handled);
    expect(rig.leases()).toEqual([]);
    held.letThrough();
    await settled();
    expect(rig.leases()).toEqual([]);
    expect(a.told('lease.lost')).toEqual([]);
  },

  'a handler may give its lease back itself: by its stage write, by releaseLease, or in a transaction': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const written = await ok(
      withTransitionLease(own, request, (held) => held.updateStage('deploy', { release: true })),
    );
    expect(written).toMatchObject({ to: 'deploy', released: true });
    expect(await ok(withTransitionLease(own, { ...request, stage: 'deploy' }, (held) => releaseLease(own, held)))).toBe(
      'released',
    );
    const committed = withTransitionLease(own, { taskId: 2, actor: 'finalizer' }, async (lease) => {
      await a.db.transaction().execute((trx) => {
        const move = { taskId: 2, expected: 'deploy-staging', next: 'done', lease, release: true } as const;
        return ok(updateStageCas(own.using(trx), move));
      });
      return 42;
    });
    expect(await ok(committed)).toBe(42);
    expect([rig.task(1)?.['stage'], rig.task(2)?.['stage'], rig.leases()]).toEqual(['deploy', 'done', []]);
    expect(a.registry.size).toBe(0);
    expect(a.told('lease.lost')).toEqual([]);
  },

  'withTransitionLease refuses an ownership on a transaction, before any statement': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await a.db.transaction().execute(async (trx) => {
      const { length } = a.wire.sent;
      expect(() => withTransitionLease(own.using(trx), request, () => 1)).toThrow(
        new TypeError('withTransitionLease needs the ownership itself, not one made by using(trx)'),
      );
      expect(a.wire.sent).toHaveLength(length);
    });
  },

  'withTransitionLease refuses a handler that is none, before any statement': async (rig) => {
    const a = rig.start('a');
    const untyped = withTransitionLease as (...given: unknown[]) => unknown;
    expect(() => untyped(a.own(), request)).toThrow('handler must be a function, got ');
    expect(a.wire.sent).toEqual([]);
  },

  'updateStage of a lease outside the scope is outside it too: scope is told the context of the request': async (
    rig,
  ) => {
    const own = rig.start('a').own({ scope: ({ context }) => context !== 'other' });
    rig.run("update tasks set stage = 'done' where id = 1");
    const outside = { ...request, stage: 'deploy-staging', context: 'other' } as const;
    expect(await ok(withTransitionLease(own, outside, (held) => held.updateStage('deploy')))).toMatchObject({
      to: 'deploy',
    });
  },

  'two handlers of one task run one after the other, never at once': async (rig) => {
    const own = rig.start('a').own();
    let running = 0;
    const handler = async () => {
      running += 1;
      expect(running).toBe(1);
      await settled();
      running -= 1;
    };
    const answers = await Promise.all([1, 2, 3].map(() => withTransitionLease(own, request, handler)));
    expect(answers.filter((answer) => answer.isOk())).toHaveLength(1);
    await ok(withTransitionLease(own, request, handler));
  },

  'an observer that throws, or rejects, changes no outcome': async (rig) => {
    const rejections: unknown[] = [];
    const note = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', note);
    const a = rig.start('a');
    for (const onEvent of [() => Promise.reject(new Error('later')), () => throws('an observer in trouble')])
      expect(await ok(withTransitionLease(a.own({ onEvent }), request, () => 42))).toBe(42);
    await settled();
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
  },
};

/** What a handler is handed. */
export const held: Proofs = {
  'ensure renews, and is ok only with that much left in the database': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own(), request, async (lease) => {
        rig.time.freeze(20_000);
        expect(await ok(lease.ensure(30_000))).toMatchObject({ claim: lease.claim });
        expect(Number(rig.leases()[0]?.['expires_ms']) - rig.time.databaseMs).toBe(30_000);
        expect(await err(lease.ensure(30_001))).toEqual({
          type: 'not-enough-time',
          message: 'The lease has 30000 ms left and the step needs 30001 ms.',
          remainingMs: 30_000,
        });
        expect(lease.signal.aborted).toBe(false);
      }),
    );
  },

  'ensure is told by the bound of the hold, which no renewal moves': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own(), { ...request, maxHoldMs: 40_000 }, async (lease) => {
        rig.time.freeze(20_000);
        await ok(lease.ensure(20_000));
        expect(await err(lease.ensure(20_001))).toMatchObject({ type: 'not-enough-time', remainingMs: 20_000 });
      }),
    );
  },

  'extend lets a hold last longer than was planned, by one fenced UPDATE': async (rig) => {
    const a = rig.start('a');
    await handled(
      withTransitionLease(a.own(), { ...request, maxHoldMs: 40_000 }, async (lease) => {
        rig.time.freeze(20_000);
        const sent = a.wire.sent.length;
        expect(await ok(lease.extend(90_000))).toMatchObject({
          claim: lease.claim,
          deadlineAtMs: lease.acquiredAtMs + 90_000,
        });
        expect(a.wire.sent.slice(sent).filter(({ sql }) => sql.startsWith('update'))).toHaveLength(1);
        expect(rig.leases()).toMatchObject([
          { deadline_ms: lease.acquiredAtMs + 90_000, expires_ms: rig.time.databaseMs + 30_000 },
        ]);
        await ok(lease.ensure(30_000));
        await rig.time.advance(69_999);
        expect(lease.signal.aborted).toBe(false);
        await rig.time.advance(1);
        expect(lease.signal.reason).toMatchObject({ reason: 'over-budget' });
      }),
    );
  },

  'extend revives nothing: a hold whose bound has passed in the database is over': async (rig) => {
    const a = rig.start('a');
    const done = withTransitionLease(a.own(), { ...request, maxHoldMs: 40_000 }, async (lease) => {
      rig.run(`update transition_lease set deadline_ms = ${String(rig.time.databaseMs)}`);
      expect(await err(lease.extend(90_000))).toMatchObject({ type: 'lease-lost', reason: 'over-budget' });
      expect(rig.leases()).toMatchObject([{ deadline_ms: rig.time.databaseMs }]);
      expect(lease.signal.aborted).toBe(true);
    });
    await handled(done);
  },

  'extend leaves the row of another acquisition alone': async (rig) => {
    const a = rig.start('a');
    const done = withTransitionLease(a.own(), { ...request, maxHoldMs: 40_000 }, async (lease) => {
      rig.run("update transition_lease set claim = 'another'");
      const before = rig.leases();
      expect(await err(lease.extend(90_000))).toMatchObject({ type: 'lease-lost' });
      expect(rig.leases()).toEqual(before);
    });
    await handled(done);
  },

  'extend whose reply was lost leaves the old bound in force here': async (rig) => {
    const a = rig.start('a');
    const done = withTransitionLease(a.own(), { ...request, maxHoldMs: 40_000 }, async (lease) => {
      a.wire.fault(/set deadline_ms/, 'reply-lost');
      expect(await err(lease.extend(90_000))).toMatchObject({ type: 'store-failure' });
      await rig.time.advance(40_000);
      expect(lease.signal.reason).toMatchObject({ reason: 'over-budget' });
    });
    await handled(done);
  },

  'extend throws for a bound that would shorten the hold, for no duration, and on a transaction': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own(), { ...request, maxHoldMs: 40_000 }, async (lease) => {
        expect(() => lease.extend(39_999)).toThrow(
          new RangeError(
            'maxHoldMs must be at least the present bound of 40000 ms, got 39999: a hold is never shortened',
          ),
        );
        expect(() => lease.extend(Number.NaN)).toThrow(/maxHoldMs must be a whole number of milliseconds/);
        await a.db.transaction().execute((trx) => {
          expect(() => lease.using(trx).extend(90_000)).toThrow(/extend must not run in a transaction/);
          return Promise.resolve();
        });
        expect(rig.leases()).toMatchObject([{ deadline_ms: lease.deadlineAtMs }]);
      }),
    );
  },

  'ensure starts trust anew, from before it asked': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own(), request, async (lease) => {
        rig.time.freeze(26_000);
        await ok(lease.ensure(0));
        rig.time.freeze(26_999);
        expect(lease.signal.aborted).toBe(false);
        rig.time.freeze(1);
        expect(lease.signal.reason).toMatchObject({ reason: 'unverifiable' });
      }),
    );
  },

  'ensure whose answer was slow counts what it took from the time that is left': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own(), request, async (lease) => {
        const slowly = () =>
          a.wire.meanwhile(RENEWAL, async (run) => {
            await run();
            rig.time.freeze(10_000);
          });
        slowly();
        await ok(lease.ensure(20_000));
        slowly();
        expect(await err(lease.ensure(20_001))).toMatchObject({ type: 'not-enough-time', remainingMs: 20_000 });
      }),
    );
  },

  'ensure whose answer came too late to be trusted is lost': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own(), request, async (lease) => {
        a.wire.meanwhile(RENEWAL, async (run) => {
          await run();
          rig.time.freeze(27_000);
        });
        expect(await err(lease.ensure(1_000))).toMatchObject({ type: 'lease-lost', reason: 'unverifiable' });
      }),
    );
  },

  'ensure of a lease that another owner has, or nobody, is lost and says to whom': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const superseded = withTransitionLease(own, request, async (lease) => {
      const { signal } = lease;
      rig.run('delete from transition_lease');
      const taken = await ok(acquireLease(b.own(), request));
      const expected = { type: 'lease-lost', reason: 'superseded', holder: { claim: taken.claim } };
      expect(await err(lease.ensure(0))).toMatchObject(expected);
      expect(signal.reason).toMatchObject(expected);
    });
    expect(await err(superseded)).toMatchObject({ type: 'lease-lost' });
    const gone = withTransitionLease(own, { ...request, taskId: 2 }, async (lease) => {
      rig.run('delete from transition_lease where task_id = 2');
      expect(await err(lease.ensure(0))).toMatchObject({ type: 'lease-lost', reason: 'gone' });
    });
    await err(gone);
  },

  'ensure of a lease that its handler gave back fails, and tells no loss': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await ok(
      withTransitionLease(own, request, async (lease) => {
        await ok(releaseLease(own, lease));
        expect(await err(lease.ensure(0))).toMatchObject({ type: 'lease-lost', reason: 'gone' });
        expect(await err(lease.updateStage('deploy'))).toMatchObject({ type: 'lease-lost', reason: 'gone' });
        expect(lease.signal.aborted).toBe(false);
      }),
    );
    expect(a.told('lease.lost')).toEqual([]);
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
  },

  'ensure of a lease that was lost asks nobody': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own(), request, async (lease) => {
        rig.time.freeze(27_000);
        const { length } = a.wire.sent;
        expect(await err(lease.ensure(0))).toMatchObject({ type: 'lease-lost', reason: 'unverifiable' });
        expect(a.wire.sent).toHaveLength(length);
      }),
    );
  },

  'ensure of a store in trouble is a store-failure and no loss': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own(), request, async (lease) => {
        a.wire.fault(RENEWAL, 'refused', TRIES);
        expect(await err(lease.ensure(0))).toMatchObject({ type: 'store-failure', kind: 'connection' });
        expect(lease.signal.aborted).toBe(false);
        await ok(lease.ensure(0));
      }),
    );
  },

  'ensure refuses a time that is none, before any statement': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own(), request, (lease) => {
        const { length } = a.wire.sent;
        for (const ms of [-1, 1.5, Number.NaN]) expect(() => lease.ensure(ms)).toThrow(RangeError);
        expect(a.wire.sent).toHaveLength(length);
      }),
    );
  },

  'updateStage is fenced, and expects the stage that the request named': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const moved = withTransitionLease(own, request, (lease) => lease.updateStage('deploy', { set: { note: 'x' } }));
    expect(await ok(moved)).toMatchObject({ from: 'deploy-staging', to: 'deploy' });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy', note: 'x' });
    const there = { ...request, stage: 'deploy' } as const;
    const lost = withTransitionLease(own, there, (lease) => lease.updateStage('done', { expected: 'done' }));
    expect(await err(lost)).toMatchObject({ type: 'lost-race', expected: 'done', actual: 'deploy' });
    expect(await ok(withTransitionLease(own, there, (lease) => lease.updateStage('done')))).toMatchObject({
      to: 'done',
    });
  },

  'updateStage expects the stage that the task was in, where the request named none': async (rig) => {
    const own = rig.start('a').own();
    const moved = withTransitionLease(own, { taskId: 1, actor: 'finalizer' }, (lease) => lease.updateStage('deploy'));
    expect(await ok(moved)).toMatchObject({ from: 'deploy-staging', to: 'deploy' });
  },

  'updateStage without an expected stage throws where nobody looked at the task, before any statement': async (rig) => {
    const a = rig.start('a');
    await ok(
      withTransitionLease(a.own({ mode: 'off' }), { taskId: 1, actor: 'finalizer' }, (lease) => {
        const { length } = a.wire.sent;
        expect(() => lease.updateStage('deploy')).toThrow(
          new TypeError('expected is missing: the lease on task 1 named no stage'),
        );
        expect(a.wire.sent).toHaveLength(length);
      }),
    );
  },

  'a held lease is frozen, and works wherever a lease does': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await ok(
      withTransitionLease(own, request, async (lease) => {
        expect(Object.isFrozen(lease)).toBe(true);
        await ok(updateStageCas(own, { taskId: 1, expected: 'deploy-staging', next: 'deploy', lease }));
      }),
    );
  },
};

function throws(message: string): never {
  throw new Error(message);
}

/** What a handler threw is thrown: a lease that was lost meanwhile is no fault of the test. */
async function handled<E extends { readonly type: string }>(transition: ResultAsync<unknown, E>): Promise<void> {
  const done = await transition;
  if (done.isErr() && done.error.type === 'handler-failed') throw (done.error as unknown as { cause: Error }).cause;
}
