import { context, type Span, type Tracer, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { err as failed } from 'neverthrow';
import {
  acquireLease,
  acquireLeases,
  ensureSchema,
  forceReleaseLease,
  NotApplied,
  reclaimStaleLeases,
  releaseLease,
  runEffect,
  withTransitionLease,
} from 'transition-ownership';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { err, ok } from '../rig/proofs.js';
import { type OwnershipOverrides, openRig } from '../rig/rig.js';
import { settled } from '../rig/time.js';
import { inOrder, Sdk, told } from './sdk.js';

const OUTCOME = 'transition_ownership.hold.outcome';
const REASON = 'transition_ownership.reason';
const DELETE = /^delete from "transition_lease"/;
const HOLD = 'transition_ownership.hold';
const EFFECT = 'transition_ownership.effect';

/** A rig with a process whose ownership tells this SDK. */
async function setUp(overrides: OwnershipOverrides = {}) {
  const [rig, sdk] = [await openRig(), new Sdk()];
  const telemetry = sdk.telemetry();
  const a = rig.start('a');
  const own = a.own({ effects: {}, onEvent: telemetry.onEvent, ...overrides });
  await ok(ensureSchema(own));
  return {
    rig,
    sdk,
    telemetry,
    a,
    own,
    /** How the holds that ended did so. */
    outcomes: () => sdk.ended.filter(({ name }) => name === HOLD).map(({ attributes }) => attributes[OUTCOME]),
    [Symbol.asyncDispose]: async () => {
      await sdk[Symbol.asyncDispose]();
      await rig[Symbol.asyncDispose]();
    },
  };
}

describe('the span of a hold', () => {
  beforeAll(() => context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
  afterAll(() => context.disable());

  test('says whose it was, what happened under it, and that it was given back', async () => {
    await using at = await setUp();
    const request = { taskId: 1, actor: 'finalizer', stage: 'deploy-staging', runId: 7 } as const;
    await ok(withTransitionLease(at.own, request, (held) => held.updateStage('deploy')));
    expect(at.sdk.ended.map(told)).toEqual([
      {
        name: HOLD,
        attributes: {
          'transition_ownership.task.id': 1,
          'transition_ownership.fencing_token': 1,
          'transition_ownership.actor': 'finalizer',
          'transition_ownership.lease.provisional': false,
          'transition_ownership.stage': 'deploy-staging',
          'transition_ownership.run.id': 7,
          [OUTCOME]: 'released',
        },
        status: 0,
        events: ['stage.changed'],
      },
    ]);
    expect(at.sdk.ended[0]?.events[0]?.attributes).toEqual({
      'transition_ownership.stage.from': 'deploy-staging',
      'transition_ownership.stage.to': 'deploy',
    });
  });

  test('is a child of the span that was active when the lease was taken', async () => {
    await using at = await setUp();
    const parent = await at.sdk.tracer.startActiveSpan('handle', async (span) => {
      await ok(withTransitionLease(at.own, { taskId: 1, actor: 'monitor' }, () => settled()));
      span.end();
      return span.spanContext();
    });
    const [hold] = at.sdk.ended;
    expect(hold?.parentSpanContext?.spanId).toBe(parent.spanId);
    expect(hold?.spanContext().traceId).toBe(parent.traceId);
  });

  test.each(['gone', 'superseded'] as const)('ends when its lease is %s, as one that failed', async (reason) => {
    await using at = await setUp();
    await ok(acquireLease(at.own, { taskId: 1, actor: 'monitor' }));
    at.rig.run('delete from transition_lease');
    if (reason === 'superseded') await ok(acquireLease(at.rig.start('b').own(), { taskId: 1, actor: 'reaper' }));
    await at.rig.time.advance(10_000);
    expect(at.sdk.ended.map(told)).toMatchObject([
      { attributes: { [OUTCOME]: 'lost', [REASON]: reason }, status: reason, events: [] },
    ]);
  });

  test('ends when its lease cannot be verified, and when it is over budget', async () => {
    await using at = await setUp();
    await ok(acquireLease(at.own, { taskId: 1, actor: 'monitor', maxHoldMs: 5_000 }));
    await ok(acquireLease(at.own, { taskId: 2, actor: 'monitor' }));
    at.a.wire.fault(/^update "transition_lease"/, 'refused');
    await at.rig.time.advance(30_000);
    expect(at.sdk.ended.map(({ attributes }) => attributes[REASON])).toEqual(['over-budget', 'unverifiable']);
  });

  test('ends when its release fails', async () => {
    await using at = await setUp();
    const lease = await ok(acquireLease(at.own, { taskId: 1, actor: 'monitor' }));
    at.a.wire.fault(DELETE, 'refused');
    await err(releaseLease(at.own, lease));
    expect(at.outcomes()).toEqual(['release-failed']);
  });

  test('ends when another actor of the process takes the lease, whose own span no late word on the first one ends', async () => {
    await using at = await setUp();
    const first = await ok(acquireLease(at.own, { taskId: 1, actor: 'monitor' }));
    at.rig.run('delete from transition_lease');
    const second = await ok(acquireLease(at.own, { taskId: 1, actor: 'reaper' }));
    expect(at.outcomes()).toEqual(['unseen']);
    expect(await ok(releaseLease(at.own, first))).toBe('superseded');
    expect(at.outcomes()).toEqual(['unseen']);
    await ok(releaseLease(at.own, second));
    expect(at.outcomes()).toEqual(['unseen', 'released']);
  });

  test('ends when the process itself reclaims a lease that its closed ownership left behind', async () => {
    await using at = await setUp();
    const lease = await ok(acquireLease(at.own, { taskId: 1, actor: 'monitor' }));
    expect(await ok(at.own.close({ deadlineMs: 0 }))).toMatchObject({ unfinished: [{ taskId: 1 }] });
    expect(at.outcomes()).toEqual([]);
    at.rig.time.freeze(30_000);
    expect(await ok(reclaimStaleLeases(at.own))).toMatchObject({ reclaimed: [{}] });
    expect(at.sdk.ended.map(told)).toMatchObject([{ attributes: { [OUTCOME]: 'reclaimed' }, status: 'expired' }]);
    expect(lease.taskId).toBe(1);
  });

  test('notes that an operator took the lease, and ends when its holder learns of it', async () => {
    await using at = await setUp();
    const { fencingToken } = await ok(acquireLease(at.own, { taskId: 1, actor: 'monitor' }));
    const order = { taskId: 1, fencingToken: fencingToken ?? 0, by: 'ada', reason: 'it hangs' };
    await ok(forceReleaseLease(at.own, order));
    await at.rig.time.advance(10_000);
    expect(at.sdk.ended.map(told)).toMatchObject([{ attributes: { [OUTCOME]: 'lost' }, events: ['operator.acted'] }]);
  });

  test('of a lease that a rolled back transaction had taken ends at the next lease of its task', async () => {
    await using at = await setUp();
    const undo = new Error('undo');
    const rolledBack = at.a.db.transaction().execute(async (trx) => {
      await ok(acquireLease(at.own.using(trx), { taskId: 1, actor: 'monitor' }));
      throw undo;
    });
    await expect(rolledBack).rejects.toBe(undo);
    const lease = await ok(acquireLease(at.own, { taskId: 1, actor: 'reaper' }));
    expect(at.outcomes()).toEqual(['unseen']);
    await ok(releaseLease(at.own, lease));
    expect(at.outcomes()).toEqual(['unseen', 'released']);
  });

  test('ends when the telemetry is closed, and no other begins', async () => {
    await using at = await setUp();
    const lease = await ok(acquireLease(at.own, { taskId: 1, actor: 'monitor' }));
    at.telemetry.close();
    at.telemetry.close();
    expect(at.outcomes()).toEqual(['unseen']);
    await ok(releaseLease(at.own, lease));
    await ok(releaseLease(at.own, await ok(acquireLease(at.own, { taskId: 1, actor: 'monitor' }))));
    expect(at.outcomes()).toEqual(['unseen']);
  });

  test('is not begun for an unguarded lease, whose end nobody tells', async () => {
    await using at = await setUp({ mode: 'off' });
    await ok(
      withTransitionLease(at.own, { taskId: 1, actor: 'monitor' }, (held) =>
        held.updateStage('deploy', { expected: 'deploy-staging' }),
      ),
    );
    at.telemetry.close();
    expect(at.sdk.ended).toEqual([]);
  });

  test('of the oldest ends where more than 10,000 are open', async () => {
    await using at = await setUp();
    at.rig.addTasks(10_001);
    const requests = Array.from({ length: 10_001 }, (_, id) => ({ taskId: id + 1, actor: 'reconciler' }));
    await ok(acquireLeases(at.own, requests));
    expect(at.sdk.ended.map(({ attributes }) => attributes)).toMatchObject([
      { 'transition_ownership.task.id': 1, [OUTCOME]: 'unseen' },
    ]);
  });
});

describe('the span of an effect', () => {
  const names = { effect: 'merge_pr', key: 'c0ffee' } as const;
  const named = { 'transition_ownership.effect.name': 'merge_pr', 'transition_ownership.effect.key': 'c0ffee' };

  test('is a child of its hold, and ends when it is applied', async () => {
    await using at = await setUp();
    await ok(
      withTransitionLease(at.own, { taskId: 1, actor: 'finalizer' }, (held) =>
        held.runEffect({ ...names, apply: () => settled() }),
      ),
    );
    const [effect, hold] = at.sdk.ended;
    expect(at.sdk.ended.map(told)).toMatchObject([
      {
        name: EFFECT,
        attributes: {
          ...named,
          'transition_ownership.task.id': 1,
          'transition_ownership.effect.outcome': 'applied',
          'transition_ownership.by': 'apply',
        },
        status: 0,
      },
      { name: HOLD, events: [] },
    ]);
    expect(effect?.parentSpanContext?.spanId).toBe(hold?.spanContext().spanId);
    expect(inOrder(hold?.startTime ?? [0, 0], effect?.startTime ?? [0, 0])).toBe(true);
  });

  test('ends as one that failed when its outcome is unknown', async () => {
    await using at = await setUp();
    const apply = () => Promise.reject(new Error('hang up'));
    const lease = await ok(acquireLease(at.own, { taskId: 1, actor: 'finalizer' }));
    const { message } = await err(runEffect(at.own, lease, { ...names, apply }));
    expect(at.sdk.ended.map(told)).toMatchObject([
      { attributes: { 'transition_ownership.effect.outcome': 'unknown' }, status: message },
    ]);
  });

  test('ends at its next start, or with its hold, when it certainly did nothing', async () => {
    await using at = await setUp();
    const apply = () => Promise.reject(new NotApplied('too early'));
    await err(
      withTransitionLease(at.own, { taskId: 1, actor: 'finalizer' }, async (held) => {
        await err(held.runEffect({ ...names, apply }));
        expect(at.sdk.ended).toEqual([]);
        await err(held.runEffect({ ...names, apply }));
        expect(at.sdk.ended).toHaveLength(1);
        return failed('not yet');
      }),
    );
    expect(at.sdk.ended.map(told)).toMatchObject([
      { name: EFFECT, status: 0 },
      { name: EFFECT, status: 0 },
      { name: HOLD },
    ]);
    for (const { attributes } of at.sdk.ended)
      expect(attributes).not.toHaveProperty('transition_ownership.effect.outcome');
  });

  test('is not made up for one that a probe settles: the hold notes it', async () => {
    await using at = await setUp();
    const lease = await ok(acquireLease(at.own, { taskId: 1, actor: 'finalizer' }));
    await ok(runEffect(at.own, lease, { ...names, probe: () => 'applied', apply: () => {} }));
    await ok(releaseLease(at.own, lease));
    expect(at.sdk.ended.map(told)).toMatchObject([{ name: HOLD, events: ['effect.applied'] }]);
    expect(at.sdk.ended[0]?.events[0]?.attributes).toEqual({ ...named, 'transition_ownership.by': 'probe' });
  });

  test('of the oldest ends where more than 100 of a hold are open', async () => {
    await using at = await setUp();
    const lease = await ok(acquireLease(at.own, { taskId: 1, actor: 'finalizer' }));
    const apply = () => Promise.reject(new NotApplied('too early'));
    for (let key = 0; key <= 100; key += 1)
      await err(runEffect(at.own, lease, { effect: 'merge_pr', key: `${key}`, apply }));
    expect(at.sdk.ended.map(({ attributes }) => attributes['transition_ownership.effect.key'])).toEqual(['0']);
  });
});

/** A tracer in trouble: every span of it throws at its end. */
test('a span that cannot be ended keeps no other from its end', async () => {
  await using rig = await openRig();
  await using sdk = new Sdk();
  let ends = 0;
  const spoil = (span: Span): Span =>
    Object.assign(span, {
      end: () => {
        ends += 1;
        throw new Error('a span in trouble');
      },
    });
  const tracer = { startSpan: (...given: Parameters<Tracer['startSpan']>) => spoil(sdk.tracer.startSpan(...given)) };
  const telemetry = sdk.telemetry({ tracer: tracer as Tracer });
  const own = rig.start('a').own({ onEvent: telemetry.onEvent });
  await ok(
    acquireLeases(
      own,
      [1, 2].map((taskId) => ({ taskId, actor: 'monitor' })),
    ),
  );
  expect(() => telemetry.close()).not.toThrow();
  expect(ends).toBe(2);
  expect(trace.getActiveSpan()).toBeUndefined();
});
