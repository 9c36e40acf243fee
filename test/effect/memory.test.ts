import { NotApplied, runEffect } from 'transition-ownership';
import { expect, test } from 'vitest';
import { effectCallsOf } from '../../src/system/effect-calls.js';
import { err, ok } from '../rig/proofs.js';
import { openRig } from '../rig/rig.js';
import { begin, FINISH, journal, STRIKE } from './outside.js';

test('a process remembers a start only until the journal says all that is known of it', async () => {
  await using rig = await openRig();
  const a = rig.start('a');
  const { own, lease, outside } = await begin(a);
  const calls = effectCallsOf(a.identity);
  const claim = (): string => String(journal(rig)[0]?.['claim']);
  const remembered = (of: string): boolean => calls.ended(of) !== undefined;

  let during = '';
  const apply = () => {
    during = claim();
    expect(remembered(during)).toBe(true);
    return { sha: 'mine' };
  };
  await ok(runEffect(own, lease, outside.merging({ apply })));
  expect(remembered(during)).toBe(false);
  rig.run('delete from transition_effect');

  a.wire.fault(FINISH, 'refused');
  await err(runEffect(own, lease, outside.merging()));
  const applied = claim();
  expect(remembered(applied)).toBe(true);
  a.wire.mend();
  await ok(runEffect(own, lease, outside.merging()));
  expect(remembered(applied)).toBe(false);
  rig.run('delete from transition_effect');

  a.wire.fault(STRIKE, 'refused');
  await err(runEffect(own, lease, outside.merging({ apply: () => Promise.reject(new NotApplied('refused')) })));
  const refused = claim();
  expect(remembered(refused)).toBe(true);
  a.wire.mend();
  await ok(runEffect(own, lease, outside.merging()));
  expect(remembered(refused)).toBe(false);
  expect(remembered(claim())).toBe(false);
});
