import { type Attributes, type Counter, type Meter, ValueType } from '@opentelemetry/api';
import { EVENT_METRICS } from '../core/metrics.js';
import type { OwnershipEvent } from '../index.js';
import { COUNTED_BY } from './counted-by.js';

/** Counts events; `common` is an attribute of every measurement. */
export function eventCounters(meter: Meter, common: Attributes): (event: OwnershipEvent) => void {
  const counters = new Map<string, Counter>();
  for (const [type, { name, unit, description }] of Object.entries(EVENT_METRICS))
    counters.set(type, meter.createCounter(name, { unit, description, valueType: ValueType.INT }));
  return (event) => {
    const attributesOf = COUNTED_BY[event.type] as ((event: OwnershipEvent) => Attributes) | undefined;
    counters.get(event.type)?.add(1, { ...common, ...attributesOf?.(event) });
  };
}
