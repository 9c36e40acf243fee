import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api';
import { acquireLease, releaseLease, withTransitionLease } from 'transition-ownership';
import { openTelemetry } from 'transition-ownership/opentelemetry';
import { afterEach, describe, expect, test } from 'vitest';
import { sqliteStore } from '../job/stores.js';
import { openYard } from '../job/yard.js';
import { ok } from '../rig/proofs.js';
import { openRig } from '../rig/rig.js';
import { everything } from './everything.js';
import { Sdk } from './sdk.js';

afterEach(() => {
  metrics.disable();
  trace.disable();
});

/** Something whose every method throws. */
const broken: unknown = new Proxy(
  {},
  {
    get: () => () => {
      throw new Error('in trouble');
    },
  },
);

/** A meter that makes instruments which throw at every use. */
const brokenInstruments = {
  createCounter: () => broken,
  createHistogram: () => broken,
  createObservableGauge: () => broken,
} as unknown as Meter;

describe('openTelemetry', () => {
  test('without an SDK measures nothing and disturbs nobody', async () => {
    await using yard = await openYard(sqliteStore);
    const worker = yard.start('a');
    const telemetry = openTelemetry({ onEvent: worker.base().onEvent });
    await everything(yard, worker, (event) => {
      expect(() => telemetry.onEvent(event)).not.toThrow();
    });
    expect(worker.told('recovery.finished')).toHaveLength(1);
    expect(() => {
      telemetry.observe(worker.own());
      telemetry.close();
    }).not.toThrow();
  });

  test('goes to the global meter and tracer of the SDK that was started before', async () => {
    await using sdk = new Sdk();
    await using rig = await openRig();
    metrics.setGlobalMeterProvider({ getMeter: () => sdk.meter });
    trace.setGlobalTracerProvider(sdk.tracers);
    const own = rig.start('a').own({ onEvent: openTelemetry().onEvent });
    await ok(withTransitionLease(own, { taskId: 1, actor: 'monitor' }, () => {}));
    expect((await sdk.collect()).get('transition_ownership.lease.acquisitions')?.points).toMatchObject([{ value: 1 }]);
    expect(sdk.ended.map(({ instrumentationScope }) => instrumentationScope.name)).toEqual(['transition-ownership']);
  });

  test('does not throw whatever the meter and the tracer do, and tells the observer of the caller all the same', async () => {
    await using yard = await openYard(sqliteStore);
    const worker = yard.start('a');
    const { onEvent } = worker.base();
    const telemetry = openTelemetry({ meter: brokenInstruments, tracer: broken as Tracer, onEvent });
    let thrown = 0;
    await everything(yard, worker, (event) => {
      try {
        return telemetry.onEvent(event);
      } catch (error) {
        thrown += 1;
        throw error;
      }
    });
    expect(thrown).toBe(0);
    expect(worker.told('recovery.finished')).toHaveLength(1);
  });

  test('follows spans where the meter is in trouble, and counts where the tracer is', async () => {
    await using sdk = new Sdk();
    await using rig = await openRig();
    for (const options of [{ meter: brokenInstruments }, { tracer: broken as Tracer }]) {
      const own = rig.start('a').own({ onEvent: sdk.telemetry(options).onEvent });
      await ok(releaseLease(own, await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }))));
    }
    expect(sdk.ended).toHaveLength(1);
    expect((await sdk.collect()).get('transition_ownership.lease.releases')?.points).toMatchObject([{ value: 1 }]);
  });

  test('hands on what the observer of the caller answers, for the library to swallow', async () => {
    await using sdk = new Sdk();
    await using rig = await openRig();
    const rejections: unknown[] = [];
    const note = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', note);
    try {
      const onEvent = () => Promise.reject(new Error('later'));
      const own = rig.start('a').own({ onEvent: sdk.telemetry({ onEvent }).onEvent });
      await ok(withTransitionLease(own, { taskId: 1, actor: 'monitor' }, () => {}));
      await new Promise((done) => setImmediate(done));
      await new Promise((done) => setImmediate(done));
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(rejections).toEqual([]);
    expect(sdk.ended).toHaveLength(1);
  });

  test('throws for options of the wrong shape, and what the meter throws, when it is made', () => {
    const make = (options: unknown) => () => openTelemetry(options as object);
    expect(make(null)).toThrow(new TypeError('options must be an object, got null'));
    expect(make({ meter: {} })).toThrow(new TypeError('meter must be a Meter of OpenTelemetry, got an object'));
    expect(make({ tracer: 7 })).toThrow(new TypeError('tracer must be a Tracer of OpenTelemetry, got 7'));
    expect(make({ onEvent: 'log' })).toThrow(new TypeError('onEvent must be a function, got "log"'));
    expect(make({ meter: broken as Meter })).toThrow(new Error('in trouble'));
  });
});
