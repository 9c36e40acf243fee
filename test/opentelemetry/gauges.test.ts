import { diag } from '@opentelemetry/api';
import { acquireLease, ensureSchema, releaseLease, runEffect, type TransitionOwnership } from 'transition-ownership';
import { describe, expect, onTestFinished, test } from 'vitest';
import { failure, ok } from '../job/proofs.js';
import { sqliteStore } from '../job/stores.js';
import { openYard } from '../job/yard.js';
import { observed } from './everything.js';
import { Sdk } from './sdk.js';

const HELD = 'transition_ownership.lease.held';
const IMPOSSIBLE = 'transition_ownership.queue.impossible';
const UNFINISHED = 'transition_ownership.effect.unfinished';
const SNAPSHOT = /^select .* from .transition_lease./s;

/** A yard with a process whose ownership is observed. */
async function setUp(options = {}) {
  const [yard, sdk] = [await openYard(sqliteStore), new Sdk(options)];
  const telemetry = sdk.telemetry();
  const worker = yard.start('a');
  const own = observed(worker, telemetry.onEvent);
  await ok(ensureSchema(own));
  telemetry.observe(own);
  return {
    yard,
    sdk,
    telemetry,
    worker,
    own,
    /** The gauges as they are collected; a verdict beside each count of leases. */
    gauges: async () => {
      const collected = await sdk.collect();
      const values = (name: string) => collected.get(name)?.points.map(({ value }) => value) ?? [];
      const leases = collected.get(HELD)?.points ?? [];
      const held = leases.map(({ attributes, value }) => [attributes['transition_ownership.verdict'], value]);
      return {
        held: Object.fromEntries(held) as unknown,
        impossible: values(IMPOSSIBLE),
        unfinished: values(UNFINISHED),
      };
    },
    [Symbol.asyncDispose]: async () => {
      await sdk[Symbol.asyncDispose]();
      await yard[Symbol.asyncDispose]();
    },
  };
}

const EMPTY = { held: { live: 0, dead: 0, unknown: 0 }, impossible: [0], unfinished: [0] };
const NOTHING = { held: {}, impossible: [], unfinished: [] };

describe('observe', () => {
  test('shows the leases by verdict, the impossible queued jobs and the unfinished effects of a snapshot', async () => {
    await using at = await setUp();
    expect(await at.gauges()).toEqual(EMPTY);
    const lease = await ok(acquireLease(at.own, { taskId: 1, actor: 'monitor' }));
    const doomed = at.yard.start('b');
    await ok(
      acquireLease(
        observed(doomed, () => {}),
        { taskId: 2, actor: 'monitor' },
      ),
    );
    doomed.kill();
    await at.yard.put({ run_id: 9, pid: 5_000, started_at: at.yard.nowMs });
    const apply = () => Promise.reject(new Error('hang up'));
    await failure(runEffect(at.own, lease, { effect: 'merge_pr', key: 'c0ffee', apply }));
    expect(await at.gauges()).toEqual({ held: { live: 1, dead: 1, unknown: 0 }, impossible: [1], unfinished: [1] });
    await ok(releaseLease(at.own, lease));
    expect(await at.gauges()).toMatchObject({ held: { live: 0, dead: 1 } });
  });

  test('reads when metrics are collected, once for all who collect at once, and at no other time', async () => {
    await using at = await setUp({ readers: 3 });
    at.worker.wire.sent.splice(0);
    await at.yard.advance(86_400_000);
    expect(at.worker.wire.sent).toEqual([]);
    await at.sdk.collect();
    expect(at.worker.wire.matching(SNAPSHOT)).toHaveLength(1);
    await at.sdk.collect();
    expect(at.worker.wire.matching(SNAPSHOT)).toHaveLength(2);
  });

  test('leaves out a snapshot that failed, and takes the next one', async () => {
    await using at = await setUp();
    const complaints: unknown[] = [];
    const complain = (...words: unknown[]): void => void complaints.push(words);
    diag.setLogger({ error: complain, warn: complain, info: complain, debug: () => {}, verbose: () => {} });
    onTestFinished(() => diag.disable());
    complaints.splice(0);
    at.worker.wire.fault(SNAPSHOT, 'refused');
    expect(await at.gauges()).toEqual(NOTHING);
    expect(complaints).toEqual([]);
    const failures = (await at.sdk.collect()).get('transition_ownership.store.failures');
    expect(failures?.points).toMatchObject([{ attributes: { 'error.type': 'connection' } }]);
    at.worker.wire.mend();
    expect(await at.gauges()).toEqual(EMPTY);
  });

  test('leaves out what an ownership has no option for', async () => {
    await using at = await setUp();
    at.telemetry.observe(at.worker.own());
    expect(await at.gauges()).toEqual({ ...EMPTY, unfinished: [] });
  });

  test('called again reads the other ownership instead', async () => {
    await using at = await setUp();
    const other = at.yard.start('b');
    at.telemetry.observe(observed(other, () => {}));
    at.worker.wire.sent.splice(0);
    expect(await at.gauges()).toEqual(EMPTY);
    expect(at.worker.wire.sent).toEqual([]);
    expect(other.wire.matching(SNAPSHOT)).toHaveLength(1);
  });

  test('ends with the telemetry', async () => {
    await using at = await setUp();
    at.telemetry.close();
    at.worker.wire.sent.splice(0);
    expect(await at.gauges()).toEqual(NOTHING);
    expect(at.worker.wire.sent).toEqual([]);
  });

  test('refuses what is no ownership', async () => {
    await using sdk = new Sdk();
    for (const other of [undefined, null, {}, 7])
      expect(() => sdk.telemetry().observe(other as TransitionOwnership)).toThrow(
        new TypeError('ownership must be a TransitionOwnership'),
      );
  });

  test('shows how many jobs wait and run, and how old the oldest lease and run are', async () => {
    await using at = await setUp();
    const values = async () => {
      const collected = await at.sdk.collect();
      const value = (name: string) => collected.get(`transition_ownership.${name}`)?.points[0]?.value;
      return ['job.queued', 'job.running', 'job.oldest.age', 'lease.oldest.age'].map(value);
    };
    expect(await values()).toEqual([0, 0, 0, 0]);
    await ok(acquireLease(at.own, { taskId: 1, actor: 'monitor' }));
    await at.yard.put({ task_id: 3 });
    await at.yard.put({ status: 'running', run_id: 7, started_at: at.yard.nowMs - 5_000 });
    await at.yard.put({ status: 'running', run_id: 8, started_at: at.yard.nowMs - 60_000 });
    await at.yard.advance(2_000);
    await ok(acquireLease(at.own, { taskId: 2, actor: 'monitor' }));
    expect(await values()).toEqual([1, 2, 62, 2]);
  });
});
