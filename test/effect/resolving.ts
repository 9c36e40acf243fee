import { releaseLease, resolveEffect, runEffect } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import type { Rig } from '../rig/rig.js';
import { begin, FINISH, journal, journalled, STRIKE, take } from './outside.js';

const hangUp = () => Promise.reject(new Error('hang up'));
const word = { taskId: 1, effect: 'merge_pr', key: 'c0ffee', by: 'ada', reason: 'looked at main' } as const;

/** An effect that is held. */
async function held(rig: Rig) {
  const a = rig.start('a');
  const { own, lease, outside } = await begin(a);
  await err(runEffect(own, lease, outside.merging({ apply: hangUp })));
  await ok(releaseLease(own, lease));
  const operator = rig.start('operator');
  return { a, own, lease, outside, operator, desk: await journalled(operator) };
}

/** What the word of an operator does. */
export const resolving: Proofs = {
  'resolveEffect applied: the effect is never done again, and its result is what the operator gave': async (rig) => {
    const { own, lease, outside, operator, desk } = await held(rig);
    const result = { sha: 'seen' };
    expect(await ok(resolveEffect(desk, { ...word, outcome: 'applied', result }))).toBe('resolved');
    expect(journal(rig)).toMatchObject([{ state: 'applied', applied_ms: rig.time.databaseMs }]);
    const facts = { taskId: 1, effect: 'merge_pr', key: 'c0ffee', fencingToken: lease.fencingToken };
    expect(operator.told('operator.acted')).toEqual([
      {
        type: 'operator.acted',
        severity: 'warning',
        action: 'resolve-effect',
        ...facts,
        outcome: 'applied',
        by: 'ada',
        reason: 'looked at main',
      },
    ]);
    expect(operator.told('effect.applied')).toMatchObject([{ ...facts, by: 'operator' }]);
    expect(await ok(runEffect(own, await take(own), outside.merging()))).toEqual({
      status: 'already-applied',
      value: result,
    });
    expect(outside.applied).toEqual([]);
  },

  'resolveEffect not-applied: the next runEffect does it': async (rig) => {
    const { own, outside, operator, desk } = await held(rig);
    expect(await ok(resolveEffect(desk, { ...word, outcome: 'not-applied' }))).toBe('resolved');
    expect(journal(rig)).toEqual([]);
    expect(operator.told('operator.acted')).toMatchObject([{ outcome: 'not-applied' }]);
    expect(operator.told('effect.applied')).toEqual([]);
    expect(await ok(runEffect(own, await take(own), outside.merging()))).toMatchObject({ status: 'applied' });
  },

  'resolveEffect keeps what the journal knows: an effect that is applied stays so': async (rig) => {
    const { desk, operator } = await held(rig);
    await ok(resolveEffect(desk, { ...word, outcome: 'applied', result: 1 }));
    for (const outcome of ['applied', 'not-applied'] as const)
      expect(await ok(resolveEffect(desk, { ...word, outcome }))).toBe('already-applied');
    expect(journal(rig)).toMatchObject([{ state: 'applied', result: '1' }]);
    expect(operator.told('operator.acted')).toHaveLength(1);
  },

  'resolveEffect finds no effect that was never started, and writes none': async (rig) => {
    const { desk, operator } = await held(rig);
    for (const other of [{ key: 'C0FFEE' }, { key: 'c0ffee ' }, { effect: 'deploy' }, { taskId: 2 }])
      expect(await ok(resolveEffect(desk, { ...word, ...other, outcome: 'applied' }))).toBe('not-found');
    expect(journal(rig)).toHaveLength(1);
    expect(operator.told('operator.acted')).toEqual([]);
  },

  'resolveEffect compares: a start that was taken over while it looked is looked at again': async (rig) => {
    const { desk, operator } = await held(rig);
    for (const [about, outcome] of [
      [STRIKE, 'not-applied'],
      [FINISH, 'applied'],
    ] as const) {
      operator.wire.meanwhile(about, async (run) => {
        rig.run(`update transition_effect set claim = 'another', state = 'applied', result = '2'`);
        await run();
      });
      expect(await ok(resolveEffect(desk, { ...word, outcome }))).toBe('already-applied');
      expect(journal(rig)).toMatchObject([{ claim: 'another', state: 'applied', result: '2' }]);
      rig.run(`update transition_effect set state = 'started', result = null`);
    }
    expect(operator.told('operator.acted')).toEqual([]);
  },

  'resolveEffect gives up on a start that changes at every try: somebody is at it': async (rig) => {
    const { desk, operator } = await held(rig);
    for (let change = 1; change <= 3; change += 1)
      operator.wire.meanwhile(STRIKE, async (run) => {
        rig.run('update transition_effect set claim = ?', `another-${change}`);
        await run();
      });
    expect(await ok(resolveEffect(desk, { ...word, outcome: 'not-applied' }))).toBe('under-way');
    expect(journal(rig)).toMatchObject([{ claim: 'another-3', state: 'started' }]);
  },

  'resolveEffect is settled when a reply is lost, and tells trouble of the store': async (rig) => {
    const { desk, operator } = await held(rig);
    operator.wire.fault(/transition_effect/, 'refused');
    expect(await err(resolveEffect(desk, { ...word, outcome: 'applied' }))).toMatchObject({ type: 'store-failure' });
    operator.wire.mend();
    for (const [about, outcome] of [
      [STRIKE, 'not-applied'],
      [FINISH, 'applied'],
    ] as const) {
      operator.wire.fault(about, 'busy');
      expect(await err(resolveEffect(desk, { ...word, outcome }))).toMatchObject({ type: 'store-failure' });
      operator.wire.mend();
    }
    operator.wire.fault(STRIKE, 'reply-lost', 1);
    expect(await ok(resolveEffect(desk, { ...word, outcome: 'not-applied' }))).toBe('resolved');
    expect(operator.told('operator.acted')).toHaveLength(1);
  },

  'resolveEffect refuses a word on what this very process has under way': async (rig) => {
    const a = rig.start('a');
    const { own, lease, outside } = await begin(a);
    const apply = async () => {
      for (const outcome of ['applied', 'not-applied'] as const)
        expect(await ok(resolveEffect(own, { ...word, outcome }))).toBe('under-way');
      return { sha: 'mine' };
    };
    expect(await ok(runEffect(own, lease, outside.merging({ apply })))).toMatchObject({ status: 'applied' });
  },
};
