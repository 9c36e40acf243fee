import {
  decideEffect,
  decideTransition,
  type EffectDecision,
  type EffectEvidence,
  type EffectState,
  NotApplied,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';

/** Every row of the truth table. */
const TABLE: readonly (readonly [state: EffectState, evidence: EffectEvidence, decision: EffectDecision])[] = [
  ['applied', 'absent', 'converge'],
  ['applied', 'applied', 'converge'],
  ['applied', 'not-applied', 'converge'],
  ['applied', 'unknown', 'converge'],
  ['started', 'applied', 'converge'],
  ['started', 'not-applied', 'redrive'],
  ['started', 'unknown', 'hold'],
  ['started', 'absent', 'hold'],
  ['never-started', 'applied', 'converge'],
  ['never-started', 'not-applied', 'redrive'],
  ['never-started', 'unknown', 'hold'],
  ['never-started', 'absent', 'redrive'],
];

describe('decideEffect', () => {
  test.each(TABLE)('an effect that is %s, and of which the outside system says %s: %s', (state, evidence, decision) => {
    expect(decideEffect(state, evidence)).toBe(decision);
  });

  test('every state meets every evidence in the table', () => {
    expect(new Set(TABLE.map(([state, evidence]) => `${state} ${evidence}`)).size).toBe(3 * 4);
  });
});

describe('decideTransition', () => {
  const effects: readonly (readonly [effects: readonly EffectDecision[], decision: EffectDecision])[] = [
    [[], 'redrive'],
    [['converge'], 'converge'],
    [['redrive'], 'redrive'],
    [['hold'], 'hold'],
    [['converge', 'converge'], 'converge'],
    [['converge', 'redrive'], 'redrive'],
    [['redrive', 'converge'], 'redrive'],
    [['redrive', 'hold'], 'hold'],
    [['hold', 'converge'], 'hold'],
    [['converge', 'redrive', 'hold'], 'hold'],
  ];
  test.each(effects)('a transition of effects to %j: %s', (decisions, decision) => {
    expect(decideTransition(decisions)).toBe(decision);
  });
});

describe('NotApplied', () => {
  test('is an error with a name, a message and a cause', () => {
    const cause = new Error('403');
    const thrown = new NotApplied('the branch is protected', { cause });
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).toMatchObject({ name: 'NotApplied', message: 'the branch is protected', cause });
    expect(String(thrown)).toBe('NotApplied: the branch is protected');
    expect(new NotApplied()).toMatchObject({ message: '' });
  });

  test('may be the parent of an error of the caller', () => {
    class Refused extends NotApplied {
      override readonly name = 'Refused';
    }
    expect(new Refused('403')).toMatchObject({ name: 'Refused', message: '403' });
    expect(Reflect.get(new Refused('403'), Symbol.for('transition-ownership.not-applied'))).toBe(true);
  });
});
