import { acquireLease, NotApplied, releaseLease, runEffect } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { begin, journal, journalled, Outside, READ, RENEW, START, take } from './outside.js';

/** What running an effect promises. */
export const running: Proofs = {
  'runEffect writes down the start, applies once, and writes down the result': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const during: unknown[] = [];
    const merging = outside.merging({
      apply: async (input) => {
        during.push(...journal(rig));
        rig.time.freeze(250);
        return outside.merge(input);
      },
    });
    const startedAtMs = rig.time.databaseMs;
    const done = await ok(runEffect(own, lease, merging));
    expect(done).toEqual({ status: 'applied', value: { sha: 'merged-1' } });
    expect(Object.isFrozen(done)).toBe(true);
    const row = {
      task_id: 1,
      effect: 'merge_pr',
      key: 'c0ffee',
      claim: expect.any(String) as string,
      fencing_token: lease.fencingToken,
      owner: 'finalizer',
      started_ms: startedAtMs,
    };
    expect(during).toEqual([{ ...row, state: 'started', result: null, applied_ms: null }]);
    expect(journal(rig)).toEqual([
      { ...row, state: 'applied', result: '{"sha":"merged-1"}', applied_ms: startedAtMs + 250 },
    ]);
    expect(journal(rig)[0]?.['claim']).not.toBe(lease.claim);
    const facts = { taskId: 1, effect: 'merge_pr', key: 'c0ffee', fencingToken: lease.fencingToken };
    expect(a.told('effect.started')).toEqual([{ type: 'effect.started', severity: 'debug', ...facts }]);
    expect(a.told('effect.applied')).toEqual([
      { type: 'effect.applied', severity: 'info', ...facts, by: 'apply', unrecorded: null },
    ]);
  },

  'runEffect gives apply the fencing token, the idempotency key and the signal of the lease': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    await ok(runEffect(own, lease, outside.merging()));
    expect(outside.applied).toEqual([
      {
        fencingToken: lease.fencingToken,
        idempotencyKey: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        signal: lease.signal,
      },
    ]);
    expect(Object.isFrozen(outside.applied[0])).toBe(true);
  },

  'the idempotency key is the same at every try and in every process, and another for every other effect': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const first = await begin(a);
    const failing = first.outside.merging({
      apply: async (input) => {
        first.outside.applied.push(input);
        throw new NotApplied('not yet');
      },
    });
    await err(runEffect(first.own, first.lease, failing));
    await err(runEffect(first.own, first.lease, failing));
    await ok(runEffect(first.own, first.lease, { ...failing, key: 'other', apply: first.outside.merge }));
    await ok(runEffect(first.own, first.lease, { ...failing, effect: 'other', apply: first.outside.merge }));
    await ok(releaseLease(first.own, first.lease));
    const second = await begin(b);
    await ok(runEffect(second.own, second.lease, first.outside.merging()));
    const otherTask = await take(second.own, 2);
    await ok(runEffect(second.own, otherTask, first.outside.merging()));
    const elsewhere = await journalled(b, { effects: { table: 'other_effect' } });
    await ok(releaseLease(second.own, otherTask));
    const otherTable = await take(elsewhere, 2);
    await ok(runEffect(elsewhere, otherTable, first.outside.merging()));
    const keys = first.outside.applied.map(({ idempotencyKey }) => idempotencyKey);
    const [key] = keys;
    expect(keys.map((each) => each === key)).toEqual([true, true, false, false, true, false, false]);
    expect(new Set(keys).size).toBe(5);
  },

  'runEffect answers the recorded result of an effect that was applied before, and does not call apply': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const first = await begin(a);
    await ok(runEffect(first.own, first.lease, first.outside.merging()));
    const again = await ok(runEffect(first.own, first.lease, first.outside.merging()));
    expect(again).toEqual({ status: 'already-applied', value: { sha: 'merged-1' } });
    await ok(releaseLease(first.own, first.lease));
    const second = await begin(b);
    const elsewhere = await ok(
      runEffect(second.own, second.lease, first.outside.merging({ probe: first.outside.look })),
    );
    expect(elsewhere).toEqual(again);
    expect(first.outside.applied).toHaveLength(1);
    expect(first.outside.probed).toBe(0);
    expect(b.told('effect.applied')).toEqual([]);
  },

  'runEffect takes another key for another application: the second deploy after a rollback happens': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    await ok(runEffect(own, lease, outside.merging({ key: 'first' })));
    expect(await ok(runEffect(own, lease, outside.merging({ key: 'second' })))).toMatchObject({ status: 'applied' });
    expect(outside.applied).toHaveLength(2);
  },

  'runEffect tells effects of different names, letter case and trailing spaces apart': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const names = ['x', 'X', 'x ', ' x'];
    for (const name of names) await ok(runEffect(own, lease, outside.merging({ key: name })));
    for (const name of names) await ok(runEffect(own, lease, outside.merging({ effect: name })));
    expect(outside.applied).toHaveLength(8);
  },

  'effects of different tasks are told apart': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    await ok(runEffect(own, lease, outside.merging()));
    expect(await ok(runEffect(own, await take(own, 2), outside.merging()))).toMatchObject({ status: 'applied' });
  },

  'runEffect renews the lease before the start is written': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    rig.time.freeze(20_000);
    await ok(runEffect(own, lease, outside.merging()));
    const order = a.wire.sent.map(({ sql }) => [READ, RENEW, START].findIndex((about) => about.test(sql)));
    expect(order.filter((at) => at >= 0).slice(0, 3)).toEqual([0, 1, 2]);
    expect(rig.leases()).toMatchObject([{ expires_ms: rig.time.databaseMs + 30_000 }]);
  },

  'runEffect refuses with not-enough-time when the hard bound is nearer than the effect needs, and starts nothing':
    async (rig) => {
      const a = rig.start('a');
      const own = await journalled(a);
      const lease = await ok(acquireLease(own, { taskId: 1, actor: 'finalizer', maxHoldMs: 25_000 }));
      const outside = new Outside();
      rig.time.freeze(20_000);
      const refused = await err(runEffect(own, lease, outside.merging({ needsMs: 6_000 })));
      expect(refused).toMatchObject({ type: 'not-enough-time', remainingMs: 5_000 });
      expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({ type: 'not-enough-time' });
      expect(journal(rig)).toEqual([]);
      expect(outside.applied).toEqual([]);
      await ok(runEffect(own, lease, outside.merging({ needsMs: 4_000 })));
      expect(outside.applied).toHaveLength(1);
    },

  'needsMs is a third of the granted life unless it is given': async (rig) => {
    const a = rig.start('a');
    const own = await journalled(a);
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'finalizer', maxHoldMs: 27_000 }));
    const outside = new Outside();
    rig.time.freeze(18_001);
    expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({
      type: 'not-enough-time',
      remainingMs: 8_999,
    });
    const other = await ok(acquireLease(own, { taskId: 2, actor: 'finalizer', maxHoldMs: 27_000 }));
    rig.time.freeze(18_000);
    await ok(runEffect(own, other, outside.merging()));
  },

  'the start is fenced: a lease that was taken between the renewal and the start begins nothing': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const { own, lease, outside } = await begin(a);
    const other = await journalled(b);
    a.wire.meanwhile(START, async (run) => {
      rig.run('delete from transition_lease');
      await take(other);
      await run();
    });
    const lost = await err(runEffect(own, lease, outside.merging()));
    expect(lost).toMatchObject({ type: 'lease-lost', reason: 'superseded', holder: { pid: b.identity.pid } });
    expect(journal(rig)).toEqual([]);
    expect(outside.applied).toEqual([]);
    expect(lease.signal.aborted).toBe(true);
  },

  'the start is fenced: a lease whose row is gone begins nothing': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    a.wire.meanwhile(START, async (run) => {
      rig.run('delete from transition_lease');
      await run();
    });
    expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({ type: 'lease-lost', reason: 'gone' });
    expect(outside.applied).toEqual([]);
  },

  'the start is written only while the database says that the lease has the time: a stall after the renewal counts':
    async (rig) => {
      const a = rig.start('a');
      const { own, lease, outside } = await begin(a);
      a.wire.meanwhile(START, async (run) => {
        rig.time.databaseMs += 25_000;
        await run();
      });
      const refused = await err(runEffect(own, lease, outside.merging()));
      expect(refused).toMatchObject({ type: 'not-enough-time', remainingMs: 5_000 });
      expect(journal(rig)).toEqual([]);
      expect(outside.applied).toEqual([]);
    },

  'a process that was stopped after its start was written applies nothing, and takes the start back': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    a.wire.meanwhile(START, async (run) => {
      await run();
      rig.time.freeze(31_000);
    });
    expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({
      type: 'lease-lost',
      reason: 'unverifiable',
    });
    expect(journal(rig)).toEqual([]);
    expect(outside.applied).toEqual([]);
  },

  'runEffect begins nothing on a lease that this process no longer trusts, without a statement': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    rig.time.freeze(28_000);
    expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({ type: 'lease-lost' });
    expect(a.wire.sent).toEqual([]);
  },

  'runEffect begins nothing once the signal of the lease has fired: effect-failed says that nothing was done': async (
    rig,
  ) => {
    const a = rig.start('a');
    const own = await journalled(a);
    const abort = new AbortController();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'finalizer', signal: abort.signal }));
    const outside = new Outside();
    abort.abort(new Error('the user went away'));
    const refused = await err(runEffect(own, lease, outside.merging()));
    expect(refused).toMatchObject({
      type: 'effect-failed',
      message: 'The effect was not applied: the user went away.',
    });
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toEqual([]);
  },

  'an apply that throws leaves the effect unknown: it is told as an alert, and never repeated on a guess': async (
    rig,
  ) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const cause = new Error('socket hang up');
    const failing = outside.merging({
      apply: async (input) => {
        await outside.merge(input);
        throw cause;
      },
    });
    const since = rig.time.databaseMs;
    const unknown = await err(runEffect(own, lease, failing));
    expect(unknown).toEqual({
      type: 'effect-unknown',
      message: 'Whether "merge_pr" ("c0ffee") of task 1 was applied is not known: its apply threw: socket hang up.',
      taskId: 1,
      effect: 'merge_pr',
      key: 'c0ffee',
      since,
      cause,
    });
    expect(a.told('effect.unknown')).toMatchObject([
      { severity: 'alert', taskId: 1, effect: 'merge_pr', key: 'c0ffee' },
    ]);
    expect(journal(rig)).toMatchObject([{ state: 'started' }]);
    rig.time.freeze(1_000);
    const held = await err(runEffect(own, lease, failing));
    expect(held).toMatchObject({ type: 'effect-unknown', since });
    expect(held.message).toContain('there is no probe to ask');
    expect(outside.applied).toHaveLength(1);
    expect(a.told('effect.unknown')).toHaveLength(2);
  },

  'an apply that throws NotApplied did nothing: effect-failed, and it may be tried again': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const cause = new NotApplied('the branch is protected', { cause: 403 });
    const refused = await err(runEffect(own, lease, outside.merging({ apply: () => Promise.reject(cause) })));
    expect(refused).toMatchObject({ type: 'effect-failed', cause });
    expect(journal(rig)).toEqual([]);
    expect(a.told('effect.unknown')).toEqual([]);
    expect(await ok(runEffect(own, lease, outside.merging()))).toMatchObject({ status: 'applied' });
  },

  'an apply that did nothing does not strike what somebody knows to be applied': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const apply = () => {
      rig.run(`update transition_effect set state = 'applied', result = 'null'`);
      throw new NotApplied('it was merged by hand');
    };
    expect(await err(runEffect(own, lease, outside.merging({ apply })))).toMatchObject({ type: 'effect-failed' });
    expect(await ok(runEffect(own, lease, outside.merging()))).toMatchObject({ status: 'already-applied' });
  },

  'NotApplied of another copy of the package is recognised, and nothing that only looks like it': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const copy = Object.assign(new Error('refused'), { [Symbol.for('transition-ownership.not-applied')]: true });
    const refused = await err(runEffect(own, lease, outside.merging({ apply: () => Promise.reject(copy) })));
    expect(refused).toMatchObject({ type: 'effect-failed', cause: copy });
    const imitation = Object.assign(new Error('refused'), { name: 'NotApplied' });
    const unknown = await err(runEffect(own, lease, outside.merging({ apply: () => Promise.reject(imitation) })));
    expect(unknown).toMatchObject({ type: 'effect-unknown', cause: imitation });
  },

  'an apply that throws before its first await counts the same': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const apply = () => {
      throw new Error('at once');
    };
    expect(await err(runEffect(own, lease, outside.merging({ apply })))).toMatchObject({ type: 'effect-unknown' });
  },

  'with a probe and no start the probe is asked first: an effect that was done elsewhere is not done again': async (
    rig,
  ) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const questions: unknown[] = [];
    const probe = (question: unknown) => {
      questions.push(question);
      return 'applied' as const;
    };
    expect(await ok(runEffect(own, lease, outside.merging({ probe })))).toEqual({
      status: 'already-applied',
      value: null,
    });
    expect(questions).toEqual([
      {
        taskId: 1,
        effect: 'merge_pr',
        key: 'c0ffee',
        fencingToken: null,
        idempotencyKey: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    ]);
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toMatchObject([{ state: 'applied', result: 'null', fencing_token: lease.fencingToken }]);
    expect(a.told('effect.applied')).toMatchObject([{ by: 'probe' }]);
    expect(await ok(runEffect(own, lease, outside.merging()))).toEqual({ status: 'already-applied', value: null });
  },

  'with a probe that says not-applied and no start the effect is applied': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const done = await ok(runEffect(own, lease, outside.merging({ probe: outside.look })));
    expect(done).toEqual({ status: 'applied', value: { sha: 'merged-1' } });
    expect(outside.probed).toBe(1);
  },

  'with a probe that cannot tell and no start nothing is begun': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const held = await err(runEffect(own, lease, outside.merging({ probe: () => 'unknown' })));
    expect(held).toMatchObject({ type: 'effect-unknown', since: lease.acquiredAtMs });
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toEqual([]);
  },
};
