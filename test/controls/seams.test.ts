import { type ClaimRegistry, type Dialect, sqliteDialect } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { acquisition } from '../lease/acquisition.js';
import { closing } from '../lease/closing.js';
import { keeping } from '../lease/keeping.js';
import { operation } from '../lease/operation.js';
import { provisional } from '../lease/provisional.js';
import { registry } from '../lease/registry.js';
import { release } from '../lease/release.js';
import type { RigOptions } from '../rig/rig.js';
import { fenced } from '../stage/fenced.js';
import { handling } from '../transition/handling.js';
import { by, type Control, isKept } from './control.js';

type Seam = NonNullable<RigOptions['seams']>;

/** A registry that forgets what it is told. */
class Forgetful extends Map<string, never> implements ClaimRegistry {
  override set(): this {
    return this;
  }
}

/** For each guard that rests on the world, the promise that is not kept where the world withholds it. */
const seams: readonly (readonly [guard: string, seam: Seam, control: Control])[] = [
  [
    'the registry: a process that forgets its claims takes its own for orphans',
    () => ({ registry: new Forgetful() }),
    by(acquisition, 'acquireLease lets two actors of one process contend, without re-entrancy'),
  ],
  [
    'the registry of a lease that close left behind',
    () => ({ registry: new Forgetful() }),
    by(closing, 'a lease that close left behind is no orphan: in its process too it ends by expiry'),
  ],
  [
    'the claim: with one for all, a contender takes the row of another for its own',
    () => ({ randomness: { claim: () => 'one-for-all', fraction: () => 0 } }),
    by(
      acquisition,
      'acquireLease takes no task twice: the second asks in vain and learns who holds it, and why that counts',
    ),
  ],
  [
    'the boot id: processes of one identity take each other’s leases for orphans',
    ({ identity }) => ({ identity: { ...identity, bootId: 'the-same', pid: 9, start: 'the-same' } }),
    by(
      acquisition,
      'acquireLease takes no task twice: the second asks in vain and learns who holds it, and why that counts',
    ),
  ],
  [
    'the host scope: a pid of another host is looked up on this one',
    ({ identity }) => ({ identity: { ...identity, host: 'every-host-the-same' } }),
    by(acquisition, 'acquireLease waits for the expiry of a process on another host, whatever has its pid here'),
  ],
  [
    'the pid table: without a look the dead are waited for',
    () => ({ processes: { sight: () => ({ state: 'unknown', start: null }) } }),
    by(acquisition, 'acquireLease reclaims at once from a process of its host that is gone'),
  ],
  [
    'the pid table: one that calls the living gone',
    () => ({ processes: { sight: () => ({ state: 'gone', start: null }) } }),
    by(
      acquisition,
      'acquireLease takes no task twice: the second asks in vain and learns who holds it, and why that counts',
    ),
  ],
  [
    'the start mark: one that never matches calls the living strangers',
    () => ({ processes: { sight: () => ({ state: 'exists', start: 'of-a-stranger' }) } }),
    by(operation, 'inspectLease tells a free task from a held one, and changes nothing'),
  ],
  [
    'the monotonic clock: without it a wall clock that is set back buys time',
    ({ clock }) => ({ clock: { ...clock, monotonicMs: () => 0 } }),
    by(keeping, 'a wall clock that is set back buys a holder no time'),
  ],
  [
    'the wall clock: without it a machine that slept trusts too long',
    ({ clock }) => ({ clock: { ...clock, wallMs: () => 0 } }),
    by(keeping, 'a holder on a machine that slept counts the time by its wall clock'),
  ],
  [
    'both clocks: without them a holder trusts itself for ever',
    ({ clock }) => ({ clock: { ...clock, monotonicMs: () => 0, wallMs: () => 0 } }),
    by(acquisition, 'a slow answer shortens the trust of a lease and never stretches it'),
  ],
  [
    'the timer: without it nothing is renewed',
    ({ clock }) => ({ clock: { ...clock, schedule: () => ({ cancel: () => {} }) } }),
    by(keeping, 'a lease is renewed for as long as its process holds it, with no code of the holder'),
  ],
  [
    'the timer: without it a loss is not told',
    ({ clock }) => ({ clock: { ...clock, schedule: () => ({ cancel: () => {} }) } }),
    by(keeping, 'a lease whose row somebody else took is lost, and its signal says to whom'),
  ],
  [
    'the timer that is taken back: without it an idle ownership goes on',
    ({ clock }) => ({
      clock: { ...clock, schedule: (ms, call) => ({ ...clock.schedule(ms, call), cancel: () => {} }) },
    }),
    by(keeping, 'no timer runs before the first lease and after the last'),
  ],
  [
    'the pause between two tries: chance that is not spread out',
    ({ randomness }) => ({ randomness: { ...randomness, fraction: () => 0 } }),
    by(keeping, 'renewals are spread by chance, up to a tenth early'),
  ],
  [
    'the registry that outlives a handler',
    () => ({ registry: new Forgetful() }),
    by(registry, 'a claim is known for as long as its handler runs, also after its lease was lost'),
  ],
  [
    'the registry of provisional claims',
    () => ({ registry: new Forgetful() }),
    by(provisional, 'a provisional lease is judged by its times alone until its commit was seen'),
  ],
];

describe('a guard that is taken away is missed', () => {
  test.each(seams)('%s', async (_, seam, control) => {
    expect(await isKept(control, {})).toBe(true);
    expect(await isKept(control, { seams: seam })).toBe(false);
  });
});

/** For each guard that rests on a dialect, the promise that is not kept where the dialect is another. */
const dialects: readonly (readonly [guard: string, dialect: Partial<Dialect>, control: Control])[] = [
  [
    'the classifier: one that calls a lost reply certain has a lost commit sent again',
    { classify: () => ({ kind: 'busy', retryable: true, outcome: 'not-applied' }) },
    by(fenced, 'updateStageCas with release whose commit got no answer never believes what the rollback says after it'),
  ],
  [
    'the classifier: one that knows nothing of a full disk',
    { classify: () => ({ kind: 'other', retryable: false, outcome: 'unknown' }) },
    by(fenced, 'updateStageCas with release on a full disk tells of the full disk, and has done neither'),
  ],
];

describe('a dialect that says something else is found out', () => {
  test.each(dialects)('%s', async (_, dialect, control) => {
    expect(await isKept(control, { dialect: { ...sqliteDialect, ...dialect } })).toBe(false);
  });
});

/** For each guard in the SQL that a mutant of one part cannot take away, what is written in its place. */
const rewritten: readonly (readonly [guard: string, mutate: (text: string) => string, control: Control])[] = [
  [
    'a renewal that inserts what it does not find',
    (text) =>
      text.startsWith('update "transition_lease" set expires_ms')
        ? `insert into transition_lease (claim, task_id, owner, acquired_ms, expires_ms, ttl_ms, deadline_ms)
           select claims.value, 1, 'revived', 0, 9e15, 30000, 9e15
           from json_each(?) as tokens, json_each(?) as claims where true
           on conflict (task_id) do update set expires_ms = excluded.expires_ms
           returning claim, expires_ms, 0 as now_ms`
        : text,
    by(keeping, 'a renewal revives nothing: a lease whose row is gone is lost, and no row appears'),
  ],
  [
    'an acquisition that takes over whatever is there',
    (text) =>
      text.replace(
        /^insert into ("transition_lease" .*) where (not exists \(.*?\))(.*) on conflict \(.*?\) do nothing/s,
        'insert or replace into $1 where (1 = 1 or $2)$3',
      ),
    by(
      acquisition,
      'acquireLease takes no task twice: the second asks in vain and learns who holds it, and why that counts',
    ),
  ],
  [
    'a release that goes by the task',
    (text) => text.replace('where "task_id" = ? and "claim" = ?', 'where "task_id" = ? and ? is not null'),
    by(release, "releaseLease never deletes another's row, and losing is no error"),
  ],
  [
    'a fence by time instead of by claim: it also stops an owner whom nobody superseded',
    (text) =>
      text.replace(
        'exists (select 1 from "transition_lease" where "task_id" = ? and "claim" = ? )',
        `exists (select 1 from "transition_lease" where "task_id" = ? and "claim" = ?
          and expires_ms > cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer))`,
      ),
    by(fenced, 'updateStageCas of an expired owner whom nobody superseded may still finish'),
  ],
  [
    'a stage write with release that gives the lease back even to a lost race',
    (text) => text.replace(/("stage" is \? collate binary) and exists/, '$1 or 1 = 1 and exists'),
    by(fenced, 'updateStageCas with a lease loses against a stage that moved, tells where it is, and writes nothing'),
  ],
  [
    'a savepoint that takes nothing back',
    (text) => (text.startsWith('rollback to savepoint') ? 'select 1' : text),
    by(fenced, 'updateStageCas with release in a transaction of the caller does both or neither'),
  ],
  [
    'a handler whose release finds nothing is believed',
    (text) => (text.startsWith('delete from "transition_lease"') ? text.replace('"claim" = ?', '? is not null') : text),
    by(handling, 'a handler that returned although somebody else took its lease is never a plain success'),
  ],
];

describe('SQL of another make is found out', () => {
  test.each(rewritten)('%s', async (_, mutate, control) => {
    let met = 0;
    const mutated = (text: string): string => {
      const other = mutate(text);
      if (other !== text) met += 1;
      return other;
    };
    expect(await isKept(control, { mutate: mutated })).toBe(false);
    expect(met).toBeGreaterThan(0);
  });
});
