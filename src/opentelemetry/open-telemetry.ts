import { type Attributes, type Meter, metrics, type Tracer, trace } from '@opentelemetry/api';
import { checkObject } from '../core/check.js';
import { inspectValue } from '../core/inspect-value.js';
import { by, callable, optional, type Rule, type RulesOf, requestOf } from '../core/request.js';
import type { Listener, OwnershipEvent, TransitionOwnership } from '../index.js';
import { durations } from './durations.js';
import { eventCounters } from './event-counters.js';
import { HoldSpans } from './hold-spans.js';
import { quietly } from './quietly.js';
import { snapshotGauges } from './snapshot-gauges.js';

/** Where telemetry goes. */
export interface OpenTelemetryOptions {
  /** Makes the instruments. Default: the global one, so start your SDK before. */
  readonly meter?: Meter;
  /** Makes the spans. Default: the global one. */
  readonly tracer?: Tracer;
  /** Put on every measurement and every span: what distinguishes this ownership from another one of the same process. */
  readonly attributes?: Attributes;
  /** Gets every event as well, as `onEvent` of the ownership would. */
  readonly onEvent?: Listener;
}

/** What another package made: an object of any class that can do this much. */
function made<T extends object>(what: string, part: keyof T): Rule<T> {
  return (name) => (value) => {
    if (typeof (value as Partial<T> | null)?.[part] !== 'function') {
      throw new TypeError(`${name} must be ${what} of OpenTelemetry, got ${inspectValue(value)}`);
    }
    return value as T;
  };
}

const check = requestOf(
  {
    meter: optional(made<Meter>('a Meter', 'createCounter')),
    tracer: optional(made<Tracer>('a Tracer', 'startSpan')),
    attributes: optional(by((name, value): asserts value is Attributes => checkObject(name, value))),
    onEvent: optional(callable as Rule<Listener>),
  } satisfies RulesOf<OpenTelemetryOptions>,
  'options',
);

/** The metrics and spans of one ownership. */
export interface OpenTelemetry {
  /** The observer for the option of the same name. Whatever is wrong with the meter or the tracer, it does not throw. */
  readonly onEvent: Listener;
  /**
   * Adds gauges of what `snapshot` shows: leases by verdict and the oldest, jobs that are queued, run
   * and are impossible and the oldest run, unfinished effects.
   *
   * A snapshot is taken whenever metrics are collected, and at no other time; one that fails is left out. Called again,
   * it reads the other ownership instead.
   */
  observe(ownership: TransitionOwnership): void;
  /** Ends the spans that are open, and the gauges: call it after the ownership's own `close`, before your SDK's. */
  close(): void;
}

const SCOPE = 'transition-ownership';
/**
 * Makes metrics and spans of an ownership's events: a counter for each type, histograms of how long leases were held
 * and waited for and how long effects and recoveries took, and a span for each hold with its effects.
 *
 * Make one for each ownership, for events do not say whose they are. Ids are attributes of spans and never of metrics.
 * The span of a hold is a child of whatever span was active when the lease was taken. Throws `TypeError` for options
 * of the wrong shape, and what your meter throws when it makes an instrument.
 *
 * @example
 * ```ts
 * import { createTransitionOwnership } from 'transition-ownership';
 * import { openTelemetry } from 'transition-ownership/opentelemetry';
 * import { db } from './setup.js';
 *
 * const telemetry = openTelemetry();
 * const ownership = createTransitionOwnership({
 *   db,
 *   tasks: { table: 'tasks', id: 'id', stage: 'stage' },
 *   onEvent: telemetry.onEvent,
 * });
 * telemetry.observe(ownership);
 * // and at the end:
 * await ownership.close();
 * telemetry.close();
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  const { meter = metrics.getMeter(SCOPE), tracer = trace.getTracer(SCOPE), attributes = {}, onEvent } = check(options);

  const count = eventCounters(meter, attributes);
  const spans = new HoldSpans(tracer, attributes);
  const watch = snapshotGauges(meter, attributes);
  let unwatch: (() => void) | undefined;

  const measure = durations(meter, attributes, (event) => spans.follows(event));

  return Object.freeze({
    onEvent: (event: OwnershipEvent) => {
      quietly(() => count(event));
      quietly(() => measure(event));
      quietly(() => spans.hear(event));
      return onEvent?.(event);
    },
    observe: (ownership: TransitionOwnership) => {
      if (typeof ownership?.using !== 'function') throw new TypeError('ownership must be a TransitionOwnership');
      unwatch?.();
      unwatch = watch(ownership);
    },
    close: () => {
      quietly(() => unwatch?.());
      unwatch = undefined;
      spans.close();
    },
  });
}
