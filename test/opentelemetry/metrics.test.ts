import { readFileSync } from 'node:fs';
import type { Attributes } from '@opentelemetry/api';
import {
  acquireLease,
  acquireLeases,
  EVENT_TYPES,
  type EventType,
  type OwnershipEvent,
  releaseLease,
  updateStageCas,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { EVENT_METRICS } from '../../src/core/metrics.js';
import { sqliteStore } from '../job/stores.js';
import { openYard } from '../job/yard.js';
import { err, ok } from '../rig/proofs.js';
import { openRig } from '../rig/rig.js';
import { everything, observed } from './everything.js';
import { type Collected, Sdk } from './sdk.js';

const HOLD = 'transition_ownership.lease.hold.duration';
const TYPES = Object.keys(EVENT_TYPES) as EventType[];

const sum = (collected: Collected | undefined): number =>
  (collected?.points ?? []).reduce((total, { value }) => total + value, 0);

const pointsOf = async (sdk: Sdk, name: string) => (await sdk.collect()).get(name)?.points ?? [];

describe('openTelemetry', () => {
  test('counts every type of event under a name of its own', async () => {
    await using sdk = new Sdk();
    await using yard = await openYard(sqliteStore);
    const heard: OwnershipEvent[] = [];
    const telemetry = sdk.telemetry({ onEvent: (event) => heard.push(event) });
    await everything(yard, yard.start('a'), telemetry.onEvent);

    const collected = await sdk.collect();
    const counted = TYPES.map((type) => [type, sum(collected.get(EVENT_METRICS[type].name))]);
    expect(counted).toEqual(TYPES.map((type) => [type, heard.filter((event) => event.type === type).length]));
    expect(counted.filter(([, count]) => count === 0)).toEqual([]);
    expect(new Set(TYPES.map((type) => EVENT_METRICS[type].name)).size).toBe(TYPES.length);
  });

  test('names instruments and attributes as the semantic conventions do', async () => {
    await using sdk = new Sdk();
    await using yard = await openYard(sqliteStore);
    await everything(yard, yard.start('a'), sdk.telemetry().onEvent);
    const collected = await sdk.collect();
    for (const [name, { unit, points }] of collected) {
      expect(name).toMatch(/^transition_ownership(\.[a-z]+(_[a-z]+)*)+$/);
      expect(name).not.toMatch(/total|seconds|_ms$/);
      expect(unit).toMatch(/^(s|\{[a-z]+\})$/);
      for (const key of points.flatMap(({ attributes }) => Object.keys(attributes)))
        expect(key).toMatch(/^(error\.type|transition_ownership(\.[a-z]+(_[a-z]+)*)+)$/);
    }
    const names = [...collected.keys()];
    expect(names.filter((name) => names.some((other) => other.startsWith(`${name}.`)))).toEqual([]);
  });

  test('makes the instruments that the README lists, and no other', async () => {
    await using sdk = new Sdk();
    await using yard = await openYard(sqliteStore);
    const telemetry = sdk.telemetry();
    const worker = yard.start('a');
    await everything(yard, worker, telemetry.onEvent);
    telemetry.observe(observed(worker, telemetry.onEvent));
    const [, table = ''] = readFileSync('examples/guides/watch.md', 'utf8').split('| `transition_ownership.` |');
    const rows = (table.split('\n\n')[0] ?? '').split('\n').map((row) => row.split('|')[1] ?? '');
    const listed = rows.flatMap((row) =>
      [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => `transition_ownership.${name}`),
    );
    expect([...(await sdk.collect()).keys()].sort()).toEqual(listed.sort());
  });

  test('puts no id and no text of anybody into a metric', async () => {
    await using sdk = new Sdk();
    await using yard = await openYard(sqliteStore);
    await everything(yard, yard.start('a'), sdk.telemetry().onEvent);
    const series = [...(await sdk.collect()).values()].flatMap(({ points }) => points);
    const values = new Set(series.flatMap(({ attributes }) => Object.values(attributes)));
    expect([...values].filter((value) => typeof value === 'number')).toEqual([]);
    for (const secret of ['c0ffee', 'finalizer', 'monitor', 'ada', 'it hangs']) expect(values).not.toContain(secret);
    expect([...values].filter((value) => /refused|broken|hang up|\s/.test(String(value)))).toEqual([]);
  });

  test('has as many series for a thousand tasks as for one', async () => {
    const seriesOf = async (tasks: number): Promise<number> => {
      await using sdk = new Sdk();
      await using rig = await openRig();
      const own = rig.start('a').own({ onEvent: sdk.telemetry().onEvent });
      const ids = Array.from({ length: tasks }, (_, at) => 1_000 + at);
      for (const id of ids) rig.run("insert into tasks (id, stage) values (?, 'deploy')", id);
      const { acquired } = await ok(
        acquireLeases(
          own,
          ids.map((taskId) => ({ taskId, actor: `actor of ${taskId}` })),
        ),
      );
      for (const lease of acquired) {
        const { taskId } = lease;
        await err(acquireLease(own, { taskId, actor: `other of ${taskId}` }));
        await ok(updateStageCas(own, { taskId, expected: 'deploy', next: 'done', lease }));
        await ok(releaseLease(own, lease));
      }
      const collected = await sdk.collect();
      expect(sum(collected.get('transition_ownership.stage.changes'))).toBe(tasks);
      return [...collected.values()].flatMap(({ points }) => points).length;
    };
    expect(await seriesOf(1_000)).toBe(await seriesOf(1));
  });

  test('calls a reason that a judge of the caller made up another one', async () => {
    await using sdk = new Sdk();
    await using rig = await openRig();
    const judge = () =>
      ({ verdict: 'live', reason: `because of ${Math.random()}` }) as unknown as {
        verdict: 'live';
        reason: 'unexpired';
      };
    const own = rig.start('a').own({ onEvent: sdk.telemetry().onEvent, liveness: { name: 'mine', judge } });
    await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await err(acquireLease(own, { taskId: 1, actor: 'reaper' }));
    expect(await pointsOf(sdk, 'transition_ownership.lease.refusals')).toMatchObject([
      { attributes: { 'transition_ownership.verdict': 'live', 'transition_ownership.reason': '_OTHER' }, value: 1 },
    ]);
  });

  test('measures how long leases were held, in seconds, by their end', async () => {
    await using sdk = new Sdk();
    await using rig = await openRig();
    const own = rig.start('a').own({ onEvent: sdk.telemetry().onEvent });
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    await ok(acquireLease(own, { taskId: 2, actor: 'monitor', maxHoldMs: 4_000 }));
    await rig.time.advance(2_500);
    await ok(releaseLease(own, lease));
    await rig.time.advance(2_500);
    const outcome = (name: string, more: Attributes = {}) => ({ 'transition_ownership.hold.outcome': name, ...more });
    const overBudget = outcome('lost', { 'transition_ownership.reason': 'over-budget' });
    expect((await sdk.collect()).get(HOLD)).toEqual({
      unit: 's',
      points: [
        { attributes: outcome('released'), value: 2.5, count: 1 },
        { attributes: overBudget, value: 4, count: 1 },
      ],
    });
  });

  test('measures a lease that was lost and could still be given back once', async () => {
    await using sdk = new Sdk();
    await using rig = await openRig();
    const own = rig.start('a').own({ onEvent: sdk.telemetry().onEvent });
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor', maxHoldMs: 4_000 }));
    await rig.time.advance(5_000);
    expect(await ok(releaseLease(own, lease))).toBe('released');
    expect(await pointsOf(sdk, HOLD)).toMatchObject([{ value: 4, count: 1 }]);
  });

  test('keeps the series of two ownerships of one process apart by their attributes', async () => {
    await using sdk = new Sdk();
    await using rig = await openRig();
    await using other = await openRig();
    const attributes = [{ 'app.database': 'one' }, { 'app.database': 'two' }] as const;
    for (const [at, of] of [rig, other].entries()) {
      const telemetry = sdk.telemetry({ attributes: attributes[at] ?? {} });
      const own = of.start('b').own({ onEvent: telemetry.onEvent });
      await ok(releaseLease(own, await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }))));
    }
    expect(await pointsOf(sdk, HOLD)).toMatchObject(attributes.map((own) => ({ attributes: own, count: 1 })));
    const counted = await pointsOf(sdk, 'transition_ownership.lease.releases');
    expect(counted).toMatchObject(attributes.map((own) => ({ attributes: own, value: 1 })));
    expect(sdk.ended.map((span) => span.attributes)).toMatchObject(attributes);
  });

  test('counts what wants a person from zero, under the series in which it will be counted', async () => {
    await using sdk = new Sdk();
    await using yard = await openYard(sqliteStore);
    const { onEvent } = sdk.telemetry();
    const before = await sdk.collect();
    const zero = (name: string) => before.get(`transition_ownership.${name}`)?.points ?? [];
    expect(zero('lease.forced_reclaims')).toEqual([{ attributes: {}, value: 0 }]);
    expect(zero('lease.reclaims').map(({ attributes }) => attributes['transition_ownership.reason'])).toContain(
      'expired',
    );
    for (const type of ['lease.losses', 'lease.reclaims', 'queue.impossible_found', 'job.reap.failures'])
      expect([type, sum(before.get(`transition_ownership.${type}`))]).toEqual([type, 0]);
    await everything(yard, yard.start('a'), onEvent);
    const after = await sdk.collect();
    // What has grown was there: the effects too, from their first start on.
    for (const name of [
      'lease.forced_reclaims',
      'lease.reclaims',
      'lease.losses',
      'lease.release.failures',
      'lease.renewal.failures',
      'job.reap.failures',
      'queue.impossible_found',
    ]) {
      const known = zero(name).map(({ attributes }) => attributes);
      const grown = (after.get(`transition_ownership.${name}`)?.points ?? []).filter(({ value }) => value > 0);
      expect(grown.length).toBeGreaterThan(0);
      for (const { attributes } of grown) expect(known).toContainEqual(attributes);
    }
    const names = (of: string) =>
      (after.get(`transition_ownership.effect.${of}`)?.points ?? []).map(
        ({ attributes }) => attributes['transition_ownership.effect.name'],
      );
    expect(names('unknowns').sort()).toEqual(names('starts').sort());
    expect(names('unrecorded').sort()).toEqual(names('starts').sort());
  });

  test('measures how long effects took by their outcome, how long actors waited, and how long recoveries took', async () => {
    await using sdk = new Sdk();
    await using yard = await openYard(sqliteStore);
    await everything(yard, yard.start('a'), sdk.telemetry().onEvent);
    const effects = await pointsOf(sdk, 'transition_ownership.effect.duration');
    const outcomes = effects.map(({ attributes, count }) => [
      attributes['transition_ownership.effect.name'],
      attributes['transition_ownership.effect.outcome'],
      count,
    ]);
    expect(outcomes.sort()).toEqual([
      ['deploy', 'unknown', 1],
      ['merge_pr', 'applied', 1],
      ['tag', 'unrecorded', 1],
    ]);
    // One actor was refused and came back; of the others nobody asked twice.
    const waits = await pointsOf(sdk, 'transition_ownership.lease.wait.duration');
    expect(waits.map(({ count }) => count)).toEqual([1]);
    expect(waits[0]?.value).toBeGreaterThan(0);
    expect(await pointsOf(sdk, 'transition_ownership.recovery.duration')).toMatchObject([{ count: 1 }]);
  });
});
