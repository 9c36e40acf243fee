import { describeFailure, NotApplied, resolveEffect, runEffect, snapshot } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { begin, FINISH, journal, READ, RENEW, START, STRIKE, TAKE_OVER, takeFromDead } from './outside.js';

const refused = () => Promise.reject(new NotApplied('refused'));
const hangUp = () => Promise.reject(new Error('hang up'));

/** What holds when the database is in trouble. */
export const trouble: Proofs = {
  'a start whose reply was lost is found by its claim, and applied once': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    for (const times of [1, 2, Number.POSITIVE_INFINITY]) {
      a.wire.fault(START, 'reply-lost', times);
      expect(await ok(runEffect(own, lease, outside.merging({ key: `after ${times}` })))).toMatchObject({
        status: 'applied',
      });
      a.wire.mend();
    }
    expect(outside.applied).toHaveLength(3);
    expect(journal(rig)).toHaveLength(3);
  },

  'a start that may have been written, and that nobody can look for, applies nothing; here it is taken up again':
    async (rig) => {
      const [a, b] = [rig.start('a'), rig.start('b')];
      const { own, lease, outside } = await begin(a);
      a.wire.meanwhile(START, async (run) => {
        a.wire.fault(/transition_effect/, 'refused');
        await run();
        throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
      });
      const failed = await err(runEffect(own, lease, outside.merging()));
      expect(failed).toMatchObject({ type: 'store-failure', outcome: 'unknown' });
      expect(outside.applied).toEqual([]);
      expect(journal(rig)).toMatchObject([{ state: 'started' }]);
      a.wire.mend();
      expect(await ok(runEffect(own, lease, outside.merging()))).toMatchObject({ status: 'applied' });
      expect(outside.applied).toHaveLength(1);
      expect(journal(rig)).toMatchObject([{ state: 'applied' }]);
      expect(b.events).toEqual([]);
    },

  'elsewhere nobody knows that such a start applied nothing: it is held': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const { own, lease, outside } = await begin(a);
    a.wire.meanwhile(START, async (run) => {
      a.wire.fault(/transition_effect/, 'refused');
      await run();
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    });
    await err(runEffect(own, lease, outside.merging()));
    const second = await takeFromDead(a, b);
    expect(await err(runEffect(second.own, second.lease, outside.merging()))).toMatchObject({ type: 'effect-unknown' });
    expect(outside.applied).toEqual([]);
  },

  'a start that certainly was not written is a store failure, and nothing is left of it': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    for (const [fault, kind] of [
      ['busy', 'busy'],
      ['refused', 'connection'],
    ] as const) {
      a.wire.fault(START, fault);
      expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({
        type: 'store-failure',
        kind,
        outcome: 'not-applied',
      });
      a.wire.mend();
    }
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toEqual([]);
    expect(await ok(runEffect(own, lease, outside.merging()))).toMatchObject({ status: 'applied' });
  },

  'a start that broke in an unknown way and is not there applies nothing': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    a.wire.fault(START, 'strange');
    expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({
      type: 'store-failure',
      outcome: 'unknown',
    });
    expect(outside.applied).toEqual([]);
    a.wire.mend();
    expect(await ok(runEffect(own, lease, outside.merging()))).toMatchObject({ status: 'applied' });
  },

  'a store that cannot be read, or a lease that cannot be renewed, begins nothing': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    for (const about of [READ, RENEW]) {
      a.wire.fault(about, 'refused');
      expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({ type: 'store-failure' });
      a.wire.mend();
    }
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toEqual([]);
  },

  'a result whose reply was lost is written once': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    for (const times of [1, Number.POSITIVE_INFINITY]) {
      a.wire.fault(FINISH, 'reply-lost', times);
      expect(await ok(runEffect(own, lease, outside.merging({ key: `after ${times}` })))).toMatchObject({
        status: 'applied',
      });
      a.wire.mend();
    }
    expect(journal(rig)).toMatchObject([{ state: 'applied' }, { state: 'applied' }]);
    expect(a.told('effect.applied')).toHaveLength(2);
  },

  'a result that broke on its way and is not written is not called written': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    a.wire.fault(FINISH, 'strange');
    expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({
      type: 'effect-unrecorded',
      value: { sha: 'merged-1' },
      cause: { type: 'store-failure', outcome: 'unknown' },
    });
    expect(a.told('effect.applied')).toEqual([]);
    expect(journal(rig)).toMatchObject([{ state: 'started' }]);
  },

  'a result that could not be written is told as an alert, and this process writes it at the next call': async (
    rig,
  ) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    a.wire.fault(FINISH, 'refused');
    for (let times = 1; times <= 2; times += 1) {
      const failed = await err(runEffect(own, lease, outside.merging()));
      expect(failed).toMatchObject({
        type: 'effect-unrecorded',
        taskId: 1,
        effect: 'merge_pr',
        key: 'c0ffee',
        value: { sha: 'merged-1' },
        cause: { type: 'store-failure', kind: 'connection', outcome: 'not-applied' },
      });
      expect(describeFailure(failed)).toContain('was applied, and could not be recorded');
      expect(describeFailure(failed)).toContain('Run it again in this process');
      expect(journal(rig)).toMatchObject([{ state: 'started', result: null }]);
    }
    expect(a.told('effect.unknown')).toEqual([]);
    expect(a.told('effect.unrecorded')).toMatchObject([
      { severity: 'alert', taskId: 1, effect: 'merge_pr', fencingToken: lease.fencingToken },
      { severity: 'alert' },
    ]);
    expect((await ok(snapshot(own))).counters).toMatchObject({ effectsUnrecorded: 2, effectsUnknown: 0 });
    const word = { taskId: 1, effect: 'merge_pr', key: 'c0ffee', by: 'ada', reason: 'not seen' } as const;
    expect(await ok(resolveEffect(own, { ...word, outcome: 'not-applied' }))).toBe('under-way');
    a.wire.mend();
    const probe = () => 'not-applied' as const;
    expect(await ok(runEffect(own, lease, outside.merging({ probe })))).toEqual({
      status: 'already-applied',
      value: { sha: 'merged-1' },
    });
    expect(outside.applied).toHaveLength(1);
    expect(journal(rig)).toMatchObject([{ state: 'applied', result: '{"sha":"merged-1"}' }]);
    expect(a.told('effect.applied')).toMatchObject([{ by: 'apply' }]);
    expect(await ok(runEffect(own, lease, outside.merging()))).toMatchObject({ status: 'already-applied' });
  },

  'a result that was written in a row that nobody can read is not lost': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    a.wire.meanwhile(FINISH, async (run) => {
      rig.run(`update transition_effect set started_ms = 'never'`);
      await run();
    });
    const failed = await err(runEffect(own, lease, outside.merging()));
    expect(failed).toMatchObject({ type: 'effect-unrecorded', value: { sha: 'merged-1' }, cause: { kind: 'schema' } });
  },

  'what this process could not write is not written over the start of another': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    a.wire.fault(FINISH, 'refused');
    await err(runEffect(own, lease, outside.merging()));
    a.wire.mend();
    a.wire.meanwhile(FINISH, async (run) => {
      rig.run(`update transition_effect set claim = 'another'`);
      await run();
    });
    expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({ type: 'effect-unknown' });
    expect(journal(rig)).toMatchObject([{ claim: 'another', state: 'started' }]);
    expect(outside.applied).toHaveLength(1);
  },

  'elsewhere nobody knows of a result that could not be written: it is held': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const { own, lease, outside } = await begin(a);
    a.wire.fault(FINISH, 'refused');
    await err(runEffect(own, lease, outside.merging()));
    const second = await takeFromDead(a, b);
    expect(await err(runEffect(second.own, second.lease, outside.merging()))).toMatchObject({ type: 'effect-unknown' });
    expect(outside.applied).toHaveLength(1);
  },

  'a start that did nothing and could not be struck is taken up again by this process, without a probe': async (
    rig,
  ) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    a.wire.fault(STRIKE, 'refused');
    expect(await err(runEffect(own, lease, outside.merging({ apply: refused })))).toMatchObject({
      type: 'effect-failed',
    });
    expect(journal(rig)).toMatchObject([{ state: 'started' }]);
    a.wire.mend();
    expect(await ok(runEffect(own, lease, outside.merging()))).toMatchObject({ status: 'applied' });
    expect(outside.applied).toHaveLength(1);
    expect(a.wire.matching(TAKE_OVER)).toHaveLength(1);
  },

  'taking over is settled by its claim when its reply is lost': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    await err(runEffect(own, lease, outside.merging({ apply: hangUp })));
    a.wire.fault(TAKE_OVER, 'reply-lost');
    expect(await ok(runEffect(own, lease, outside.merging({ probe: outside.look })))).toMatchObject({
      status: 'applied',
    });
    expect(outside.applied).toHaveLength(1);
    expect(journal(rig)).toMatchObject([{ state: 'applied' }]);
  },

  'a mark by the probe is settled when its reply is lost, and is a store failure when it cannot be written': async (
    rig,
  ) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    await err(runEffect(own, lease, outside.merging({ apply: hangUp })));
    const probe = () => 'applied' as const;
    a.wire.fault(FINISH, 'busy');
    expect(await err(runEffect(own, lease, outside.merging({ probe })))).toMatchObject({ type: 'store-failure' });
    a.wire.mend();
    a.wire.fault(FINISH, 'reply-lost');
    expect(await ok(runEffect(own, lease, outside.merging({ probe })))).toMatchObject({ status: 'already-applied' });
    expect(journal(rig)).toMatchObject([{ state: 'applied' }]);
    expect(outside.applied).toEqual([]);
  },
};
