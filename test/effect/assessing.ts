import { assessTransition, recoverOnStartup, releaseLease, runEffect, snapshot } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import type { Rig } from '../rig/rig.js';
import { begin, journal } from './outside.js';

const hangUp = () => Promise.reject(new Error('hang up'));
const threw = () => {
  throw new Error('503');
};

/** A task with one effect applied and one started. */
async function brokenOff(rig: Rig) {
  const a = rig.start('a');
  const { own, lease, outside } = await begin(a);
  await ok(runEffect(own, lease, outside.merging()));
  await err(runEffect(own, lease, { effect: 'deploy', key: 'v1', apply: hangUp }));
  await ok(releaseLease(own, lease));
  a.wire.sent.length = 0;
  return { a, own, lease, startedAtMs: rig.time.databaseMs };
}

/** What is told of a transition that was broken off, and counted of all. */
export const assessing: Proofs = {
  'assessTransition tells a task without effects to be driven again: it was never started': async (rig) => {
    const { own } = await brokenOff(rig);
    expect(await ok(assessTransition(own, 2))).toEqual({ decision: 'redrive', effects: [] });
  },

  'assessTransition tells a task whose effects are applied to converge, with their results': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const startedAtMs = rig.time.databaseMs;
    await ok(runEffect(own, lease, outside.merging()));
    let asked = 0;
    const probe = () => {
      asked += 1;
      return 'unknown' as const;
    };
    const assessed = await ok(assessTransition(own, 1, { probes: { merge_pr: probe } }));
    expect(asked).toBe(0);
    expect(assessed).toEqual({
      decision: 'converge',
      effects: [
        {
          effect: 'merge_pr',
          key: 'c0ffee',
          decision: 'converge',
          state: 'applied',
          message: null,
          fencingToken: lease.fencingToken,
          startedAtMs,
          result: { sha: 'merged-1' },
        },
      ],
    });
    expect(Object.isFrozen(assessed)).toBe(true);
  },

  'assessTransition holds a task with an effect of unknown outcome, and changes nothing': async (rig) => {
    const { a, own, lease, startedAtMs } = await brokenOff(rig);
    const before = journal(rig);
    expect(await ok(assessTransition(own, 1))).toMatchObject({
      decision: 'hold',
      effects: [
        {
          effect: 'deploy',
          key: 'v1',
          decision: 'hold',
          state: 'started',
          message: 'it was started, and there is no probe to ask',
          fencingToken: lease.fencingToken,
          startedAtMs,
          result: null,
        },
        { effect: 'merge_pr', decision: 'converge' },
      ],
    });
    expect(journal(rig)).toEqual(before);
    expect(a.wire.sent.every(({ sql }) => sql.startsWith('select'))).toBe(true);
    expect(a.told('effect.unknown')).toHaveLength(1);
  },

  'assessTransition asks the probes of the call about the effects of the call, whatever becomes of them': async (
    rig,
  ) => {
    const { own } = await brokenOff(rig);
    const effects = [{ effect: 'deploy', key: 'v1' }];
    const probes: Record<string, () => 'applied'> = { deploy: () => 'applied' };
    const asked = assessTransition(own, 1, { effects, probes });
    const recovering = recoverOnStartup(own, { jobs: 'dead-only', probes });
    probes['deploy'] = threw;
    effects.push({ effect: 'merge_pr', key: 'none' });
    expect(await ok(asked)).toMatchObject({ decision: 'converge', effects: [{ effect: 'deploy' }] });
    expect((await ok(recovering)).transitions).toMatchObject([{ taskId: 1, decision: 'converge' }]);
  },

  'assessTransition asks the probe of the effect, and no other': async (rig) => {
    const { own, lease } = await brokenOff(rig);
    const questions: unknown[] = [];
    const asking = (answer: 'applied' | 'not-applied' | 'unknown') => ({
      merge_pr: threw,
      constructor: threw,
      deploy: (question: unknown) => {
        questions.push(question);
        return answer;
      },
    });
    for (const [answer, decision] of [
      ['applied', 'converge'],
      ['not-applied', 'redrive'],
      ['unknown', 'hold'],
    ] as const) {
      expect(await ok(assessTransition(own, 1, { probes: asking(answer) }))).toMatchObject({
        decision,
        effects: [{ effect: 'deploy', decision }, { effect: 'merge_pr' }],
      });
    }
    expect(questions[0]).toMatchObject({ taskId: 1, effect: 'deploy', key: 'v1', fencingToken: lease.fencingToken });
    const effects = ['constructor', 'toString'].map((effect) => ({ effect, key: 'v1' }));
    expect(await ok(assessTransition(own, 1, { effects, probes: {} }))).toMatchObject({
      decision: 'redrive',
      effects: [{ decision: 'redrive' }, { decision: 'redrive' }],
    });
    expect(await ok(assessTransition(own, 1, { probes: { deploy: threw } }))).toMatchObject({
      decision: 'hold',
      effects: [{ message: 'its probe threw: 503' }, {}],
    });
  },

  'assessTransition looks at the effects that are named, and not at those of earlier transitions': async (rig) => {
    const { own } = await brokenOff(rig);
    const merged = { effect: 'merge_pr', key: 'c0ffee' };
    expect(await ok(assessTransition(own, 1, { effects: [merged] }))).toMatchObject({ decision: 'converge' });
    const effects = [merged, { effect: 'merge_pr', key: 'second' }];
    expect(await ok(assessTransition(own, 1, { effects }))).toMatchObject({
      decision: 'redrive',
      effects: [
        { state: 'applied' },
        { state: 'never-started', decision: 'redrive', startedAtMs: null, fencingToken: null },
      ],
    });
    expect(await ok(assessTransition(own, 1, { effects, probes: { merge_pr: () => 'applied' } }))).toMatchObject({
      decision: 'converge',
    });
  },

  'assessTransition tells trouble of the store': async (rig) => {
    const { a, own } = await brokenOff(rig);
    a.wire.fault(/transition_effect/, 'refused');
    expect(await err(assessTransition(own, 1))).toMatchObject({ type: 'store-failure' });
  },

  'snapshot counts the effects whose end is not known, and counts no journal as null': async (rig) => {
    const { a, own } = await brokenOff(rig);
    expect(await ok(snapshot(own))).toMatchObject({ unfinishedEffects: 1 });
    expect(await ok(snapshot(a.own()))).toMatchObject({ unfinishedEffects: null });
    const { counters } = await ok(snapshot(own));
    expect(counters).toMatchObject({ effectsStarted: 2, effectsApplied: 1, effectsUnknown: 1 });
    a.wire.fault(/transition_effect/, 'refused');
    expect(await err(snapshot(own))).toMatchObject({ type: 'store-failure' });
  },
};
