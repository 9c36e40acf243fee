import { afterEach, describe, expect, test, vi } from 'vitest';
import { ReapMemory } from '../../src/core/reap-memory.js';
import { Holding } from '../../src/holding/holding.js';
import { IdleWatch } from '../../src/holding/idle-watch.js';
import type { ReleaseEvent } from '../../src/holding/lease-state.js';
import { UnguardedHolds } from '../../src/holding/unguarded-holds.js';
import { EffectCalls } from '../../src/system/effect-calls.js';
import { together } from '../effect/together.js';
import { trouble } from '../effect/trouble.js';
import { reaping } from '../job/reaping.js';
import { sqliteStore } from '../job/stores.js';
import { openYard } from '../job/yard.js';
import { keeping } from '../lease/keeping.js';
import { settled } from '../rig/time.js';
import { fenced } from '../stage/fenced.js';
import { observing } from '../transition/observing.js';
import { by, type Control, isKept } from './control.js';

/** The state of a lease is not told of one kind of event. */
function missing(missed: ReleaseEvent): void {
  const note: (this: Holding, event: ReleaseEvent) => void = Reflect.get(Holding.prototype, 'note');
  vi.spyOn(Holding.prototype, 'note').mockImplementation(function (this: Holding, event) {
    if (event !== missed) note.call(this, event);
  });
}

/** For each guard that is code of one place, the promise that is not kept where that place says something else. */
const guards: readonly (readonly [guard: string, remove: () => unknown, control: Control])[] = [
  [
    'the look whether a call would wait for itself',
    () => vi.spyOn(EffectCalls.prototype, 'waitsForItself').mockReturnValue(false),
    by(together, 'an effect that is run inside its own apply fails at once, instead of waiting for itself'),
  ],
  [
    'the bound of the wait for a call that hangs',
    () => vi.spyOn(Holding.prototype, 'holdLeftMs', 'get').mockReturnValue(1e9),
    by(together, 'a call that hangs is waited for until the hold of who waits is over, and no longer'),
  ],
  [
    'that a stage write whose reply was lost may have released',
    () => missing('deleted-uncommitted'),
    by(
      fenced,
      'updateStageCas with release whose reply was lost and could not be looked for may have released: that is no loss',
    ),
  ],
  [
    'that a release is under way while a renewal finds its row gone',
    () => missing('release-sent'),
    by(keeping, 'a lease whose release is under way is not told as lost by a renewal that comes after it'),
  ],
  [
    'the look for a task that this process holds without a row',
    () => vi.spyOn(UnguardedHolds.prototype, 'all', 'get').mockReturnValue([]),
    by(observing, 'a task that this process holds without a row is busy under on: its handler began under off'),
  ],
  [
    'the mark that no lease is left',
    () => vi.spyOn(IdleWatch.prototype, 'look').mockReturnValue(),
    by(observing, 'idle leaves nothing on a signal that lives on'),
  ],
  [
    'what this process knows of its own starts',
    () => vi.spyOn(EffectCalls.prototype, 'ended').mockReturnValue(undefined),
    by(trouble, 'a result that could not be written is told as an alert, and this process writes it at the next call'),
  ],
];

test('the look whether a trouble of a reaper is to be told', async () => {
  const title = 'a hook that throws is told once, and then less and less; each report says it all the same';
  const proof = reaping[title];
  if (proof === undefined) throw new Error('no such proof');
  vi.spyOn(ReapMemory.prototype, 'isToBeReported').mockReturnValue(true);
  await using yard = await openYard(sqliteStore);
  await expect(proof(yard)).rejects.toThrow();
  vi.restoreAllMocks();
});

/** A promise that is still not kept when all that can go on has gone on is none. */
const TURNS = 200;

async function isKeptSoon(control: Control): Promise<boolean> {
  let kept: boolean | undefined;
  void isKept(control, {}).then((told) => {
    kept = told;
  });
  for (let turn = 0; kept === undefined && turn < TURNS; turn += 1) await settled();
  return kept ?? false;
}

describe('code that is taken away is missed', () => {
  afterEach(() => void vi.restoreAllMocks());

  test.each(guards)('%s', async (_, remove, control) => {
    expect(await isKeptSoon(control)).toBe(true);
    remove();
    expect(await isKeptSoon(control)).toBe(false);
  });
});
