import { assessTransition, createTransitionOwnership, resolveEffect, runEffect } from 'transition-ownership';
import { expect, test } from 'vitest';
import { openRig, tasks } from '../rig/rig.js';
import { begin } from './outside.js';

const merging = { effect: 'merge_pr', key: 'c0ffee', apply: () => null };

/** What is wrong, with what is said of it as a title. */
function told<T>(cases: readonly (readonly [wrong: T, error: Error])[]) {
  return cases.map(([wrong, error]) => ({ wrong, error, message: error.message }));
}

/** Requests for effects that are of the wrong shape, each with the one sentence that refuses it. */
const WRONG: readonly (readonly [request: unknown, error: Error])[] = [
  [undefined, new TypeError('request must be an object, got undefined')],
  [{ ...merging, effect: 7 }, new TypeError('effect must be a string, got 7')],
  [{ ...merging, effect: '' }, new RangeError('effect must not be empty')],
  [{ ...merging, key: undefined }, new TypeError('key must be a string, got undefined')],
  [{ ...merging, key: 'x'.repeat(256) }, new RangeError('key must have at most 255 bytes of UTF-8, got 256')],
  [{ ...merging, apply: undefined }, new TypeError('apply must be a function, got undefined')],
  [{ ...merging, probe: 'applied' }, new TypeError('probe must be a function, got "applied"')],
  [{ ...merging, needsMs: '5' }, new TypeError('needsMs must be a number of milliseconds, got "5"')],
  [
    { ...merging, needsMs: 30_001 },
    new RangeError('needsMs must be a whole number of milliseconds from 0 to 30000, got 30001'),
  ],
  [
    { ...merging, needsMs: -1 },
    new RangeError('needsMs must be a whole number of milliseconds from 0 to 30000, got -1'),
  ],
];

test.for(told(WRONG))('runEffect refuses an effect before any statement: $message', async ({ wrong, error }) => {
  await using rig = await openRig();
  const a = rig.start('a');
  const { own, lease } = await begin(a);
  expect(() => runEffect(own, lease, wrong as typeof merging)).toThrow(error);
  expect(a.wire.sent).toEqual([]);
});

test('runEffect refuses a transaction, a lease of another ownership, and what is no lease', async () => {
  await using rig = await openRig();
  const a = rig.start('a');
  const { own, lease, outside } = await begin(a);
  await a.db.transaction().execute(async (trx) => {
    expect(() => runEffect(own.using(trx), lease, outside.merging())).toThrow(
      new TypeError('runEffect needs the ownership itself, not one made by using(trx)'),
    );
  });
  expect(() => runEffect(a.own({ effects: {} }), lease, outside.merging())).toThrow(
    new TypeError('lease must be a lease of this ownership, not of another one'),
  );
  expect(() => runEffect(own, { ...lease }, outside.merging())).toThrow(
    new TypeError('lease must be a lease that this library granted, got an object'),
  );
  expect(outside.applied).toEqual([]);
});

/** Words of an operator that are of the wrong shape. */
const WRONG_WORDS: readonly (readonly [change: object, error: Error])[] = [
  [{ taskId: '1' }, new TypeError('taskId must be a number, got "1"')],
  [{ effect: '' }, new RangeError('effect must not be empty')],
  [{ key: null }, new TypeError('key must be a string, got null')],
  [{ outcome: 'unknown' }, new RangeError('outcome must be "applied" or "not-applied", got "unknown"')],
  [{ by: '' }, new RangeError('by must not be empty')],
  [{ reason: 7 }, new TypeError('reason must be a string, got 7')],
  [{ result: { at: new Date(0) } }, new TypeError('result must be plain JSON: the result.at is an object of a class')],
  [{ outcome: 'not-applied', result: 1 }, new TypeError('result is for the outcome "applied"')],
];

test.for(told(WRONG_WORDS))('resolveEffect refuses a word before any statement: $message', async ({ wrong, error }) => {
  await using rig = await openRig();
  const a = rig.start('a');
  const { own } = await begin(a);
  const word = {
    taskId: 1,
    effect: 'merge_pr',
    key: 'c0ffee',
    outcome: 'applied',
    by: 'ada',
    reason: 'seen',
  } as const;
  expect(() => resolveEffect(own, { ...word, ...wrong })).toThrow(error);
  expect(() => resolveEffect(own, null as unknown as typeof word)).toThrow(TypeError);
  expect(a.wire.sent).toEqual([]);
});

test('assessTransition refuses options of the wrong shape before any statement', async () => {
  await using rig = await openRig();
  const a = rig.start('a');
  const { own } = await begin(a);
  const assess = (taskId: unknown, options?: unknown) => () =>
    assessTransition(own, taskId as number, options as object);
  expect(assess('1')).toThrow(new TypeError('taskId must be a number, got "1"'));
  expect(assess(1, null)).toThrow(new TypeError('options must be an object, got null'));
  expect(assess(1, { probes: 7 })).toThrow(new TypeError('probes must be an object, got 7'));
  expect(assess(1, { probes: { merge_pr: 'applied' } })).toThrow(
    new TypeError('probes.merge_pr must be a function, got "applied"'),
  );
  expect(assess(1, { effects: 'merge_pr' })).toThrow(new TypeError('effects must be an array, got "merge_pr"'));
  expect(assess(1, { effects: [{ effect: 'merge_pr' }] })).toThrow(
    new TypeError('effects[].key must be a string, got undefined'),
  );
  expect(a.wire.sent).toEqual([]);
});

test('resolveEffect and assessTransition refuse an ownership without a journal', async () => {
  await using rig = await openRig();
  const own = rig.start('a').own();
  const word = { taskId: 1, effect: 'merge_pr', key: 'c0ffee', outcome: 'applied', by: 'ada', reason: 'seen' } as const;
  expect(() => resolveEffect(own, word)).toThrow(
    new TypeError('resolveEffect needs an ownership with the option effects'),
  );
  expect(() => assessTransition(own, 1)).toThrow(
    new TypeError('assessTransition needs an ownership with the option effects'),
  );
});

test('createTransitionOwnership refuses a journal that could not be', async () => {
  await using rig = await openRig();
  const { db } = rig.start('a');
  const make = (effects: unknown) => () =>
    createTransitionOwnership({ db, tasks, effects: effects as { table: string } });
  expect(make('journal')).toThrow(new TypeError('effects must be an object, got "journal"'));
  expect(make({ table: 'a"; drop table tasks; --' })).toThrow(RangeError);
  expect(make({ table: '' })).toThrow(RangeError);
  expect(make({ table: 'x'.repeat(64) })).toThrow(RangeError);
  expect(make({ schema: 'a.b' })).toThrow(RangeError);
  expect(make({ table: 'transition_lease' })).toThrow(
    new RangeError('effects.table must not be lease.table, got "transition_lease" and "transition_lease"'),
  );
});
