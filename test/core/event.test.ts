import { EVENT_TYPES, type OwnershipEvent, type Severity } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { jsonId } from '../../src/core/event.js';
import { Observer } from '../../src/core/observer.js';

/** What each type of event is worth, as dashboards and alert rules rely on it. */
const severities: Readonly<Record<keyof typeof EVENT_TYPES, Severity>> = {
  'lease.acquired': 'debug',
  'lease.busy': 'info',
  'task.not-found': 'info',
  'lease.renewed': 'debug',
  'lease.released': 'debug',
  'would-refuse': 'warning',
  'would-lose': 'warning',
  'would-skip': 'warning',
  'would-hold': 'warning',
  'lease.reclaimed': 'alert',
  'lease.forced': 'alert',
  'lease.lost': 'warning',
  'lease.release-failed': 'warning',
  'lease.renewal-failed': 'warning',
  'stage.changed': 'info',
  'stage.race-lost': 'info',
  'action.deferred': 'info',
  'job.claimed': 'debug',
  'job.requeued': 'info',
  'job.reaped': 'warning',
  'job.reap-failed': 'warning',
  'queue.impossible-found': 'warning',
  'queue.sanitized': 'info',
  'effect.started': 'debug',
  'effect.applied': 'info',
  'effect.unknown': 'alert',
  'effect.unrecorded': 'alert',
  'recovery.finished': 'info',
  'survey.found': 'warning',
  'store.failed': 'warning',
  'operator.acted': 'warning',
};

describe('EVENT_TYPES', () => {
  test('names every type noun.past, with its severity', () => {
    const entries = Object.entries(EVENT_TYPES);
    expect(Object.fromEntries(entries.map(([type, { severity }]) => [type, severity]))).toEqual(severities);
    expect(entries.filter(([type]) => !/^(would-[a-z]+|[a-z]+\.[a-z]+(-[a-z]+)?)$/.test(type))).toEqual([]);
    expect(Object.isFrozen(EVENT_TYPES)).toBe(true);
  });

  test('counts every type by a counter of its own', () => {
    const counters = Object.values(EVENT_TYPES).map(({ counter }) => counter);
    expect(new Set(counters).size).toBe(counters.length);
    expect(counters).toEqual(
      expect.arrayContaining([
        'acquired',
        'busy',
        'deferred',
        'reclaimed',
        'forced',
        'lost',
        'racesLost',
        'requeued',
        'reaped',
        'sanitized',
      ]),
    );
  });
});

describe('Observer', () => {
  const facts = { taskId: 1, reason: 'live-owner', actor: null, holder: null };

  test('tells a frozen event and counts it', () => {
    const heard: unknown[] = [];
    const observer = new Observer((event) => heard.push(event));
    observer.emit('action.deferred', facts);
    expect(heard).toEqual([{ type: 'action.deferred', severity: 'info', ...facts }]);
    expect(heard.every(Object.isFrozen)).toBe(true);
    expect(observer.counters()).toMatchObject({ deferred: 1, acquired: 0 });
  });

  test('counts without a listener', () => {
    const observer = new Observer(undefined);
    observer.emit('action.deferred', facts);
    observer.emit('action.deferred', facts);
    expect(observer.counters().deferred).toBe(2);
  });

  test('takes a severity back, and keeps its own where the caller’s throws or says nonsense', () => {
    const heard: unknown[] = [];
    const emit = (severity: (event: OwnershipEvent) => unknown) =>
      new Observer(({ severity: told }) => heard.push(told), severity).emit('action.deferred', facts);
    emit(({ type }) => (type === 'action.deferred' ? 'debug' : undefined));
    emit(() => 'loud');
    emit(() => {
      throw new Error('in trouble');
    });
    emit(() => undefined);
    expect(heard).toEqual(['debug', 'info', 'info', 'info']);
  });

  test('swallows what a listener throws, and still counts', () => {
    const observer = new Observer(() => {
      throw new Error('a listener in trouble');
    });
    expect(() => observer.emit('action.deferred', facts)).not.toThrow();
    expect(observer.counters().deferred).toBe(1);
  });

  test('swallows what a listener rejects with, and what a false promise throws', async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', note);
    try {
      new Observer(() => Promise.reject(new Error('later'))).emit('action.deferred', facts);
      new Observer(() => ({
        // biome-ignore lint/suspicious/noThenProperty: a thenable of somebody else's making
        then: () => {
          throw new Error('a false promise');
        },
      })).emit('action.deferred', facts);
      await new Promise((done) => setImmediate(done));
      await new Promise((done) => setImmediate(done));
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(rejections).toEqual([]);
  });

  test('does not wait for a listener', () => {
    const observer = new Observer(() => new Promise(() => {}));
    observer.emit('action.deferred', facts);
    expect(observer.counters().deferred).toBe(1);
  });
});

test('jsonId spells a bigint as its digits and leaves other ids alone', () => {
  expect([jsonId(7), jsonId('7'), jsonId(2n ** 60n)]).toEqual([7, '7', '1152921504606846976']);
});
