import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LeaseLife } from '../../src/holding/lease-life.js';
import { type LeaseEvent, type LeaseState, nextState } from '../../src/holding/lease-state.js';

const events = [
  'granted',
  'renewed',
  'release-sent',
  'release-ended',
  'deleted-uncommitted',
  'reply-lost',
  'deleted',
  'gone',
  'not-seen',
  'trust-ended',
  'disproved',
] as const satisfies readonly LeaseEvent[];

/** The state after each event, in the order of `events`; `·` where nothing changes. */
const table: Readonly<Record<LeaseState, string>> = {
  acquiring: '  held · ·         ·    ·           ·         ·        ·        ·        ·    lost',
  held: '       ·    · releasing ·    uncommitted unsettled released lost     ·        lost lost',
  releasing: '  ·    · ·         held uncommitted unsettled released ·        ·        lost lost',
  uncommitted: '·    held ·      ·    ·           unsettled released released released lost lost',
  unsettled: '  ·    · ·         ·    ·           ·         released released ·        ·    lost',
  lost: '       ·    · ·         ·    ·           ·         released ·        ·        ·    ·',
  released: '   ·    · ·         ·    ·           ·         ·        ·        ·        ·    ·',
};

const states = Object.keys(table) as LeaseState[];

describe.each(states)('a lease that is %s', (state) => {
  const row = table[state].trim().split(/\s+/);
  test.each(events.map((event, at) => ({ event, next: row[at] === '·' ? state : row[at] })))(
    '$event: $next',
    ({ event, next }) => {
      expect(row).toHaveLength(events.length);
      expect(nextState(state, event)).toBe(next);
    },
  );
});

const lives = fc.array(fc.constantFrom(...events), { maxLength: 40 });

describe('in any life', () => {
  test('what is over stays over: a lost lease is never held again, and a released one is nothing else', () => {
    fc.assert(
      fc.property(lives, (life) => {
        let state: LeaseState = 'acquiring';
        for (const event of life) {
          const next = nextState(state, event);
          if (state === 'lost') expect(['lost', 'released']).toContain(next);
          if (state === 'released') expect(next).toBe('released');
          state = next;
        }
      }),
    );
  });

  test('a row that was not there is no loss once this process may have deleted it', () => {
    fc.assert(
      fc.property(lives, (life) => {
        let state: LeaseState = 'acquiring';
        let mayBeDeleted = false;
        for (const event of life) {
          const next = nextState(state, event);
          if (event === 'gone' && mayBeDeleted && state !== 'lost') expect(next).not.toBe('lost');
          if (next !== state) mayBeDeleted = ['releasing', 'uncommitted', 'unsettled', 'released'].includes(next);
          state = next;
        }
      }),
    );
  });

  test('the entry in the registry follows the state, in the three words that other copies of the package know', () => {
    fc.assert(
      fc.property(lives, (events) => {
        const life = new LeaseLife({ provisional: false });
        const { entry } = life;
        for (const event of events) {
          const state = life.step(event);
          const phase = state === 'acquiring' || state === 'held' ? state : state === 'lost' ? 'held' : 'releasing';
          expect(entry).toEqual({ phase, provisional: false });
        }
      }),
    );
  });

  test('a provisional row is one until it is seen committed, and its entry says so', () => {
    const life = new LeaseLife({ provisional: true });
    life.step('granted');
    expect([life.provisional, life.entry]).toEqual([true, { phase: 'held', provisional: true }]);
    life.committed();
    expect([life.provisional, life.entry]).toEqual([false, { phase: 'held', provisional: false }]);
  });
});
