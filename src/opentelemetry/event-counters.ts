import { type Attributes, type Counter, type Meter, ValueType } from '@opentelemetry/api';
import { EVENT_METRICS } from '../core/metrics.js';
import type { EventType, OwnershipEvent } from '../index.js';
import { COUNTED_BY } from './counted-by.js';
import { FROM_ZERO, fromZeroOn } from './from-zero.js';
import { quietly } from './quietly.js';

/** Counts events; `common` is an attribute of every measurement. */
export function eventCounters(meter: Meter, common: Attributes): (event: OwnershipEvent) => void {
  const counters = new Map<string, Counter>();
  for (const [type, { name, unit, description }] of Object.entries(EVENT_METRICS))
    counters.set(type, meter.createCounter(name, { unit, description, valueType: ValueType.INT }));
  const add = (type: EventType, count: number, attributes: Attributes | undefined): void =>
    counters.get(type)?.add(count, { ...common, ...attributes });

  for (const [type, series] of Object.entries(FROM_ZERO))
    for (const attributes of series) quietly(() => add(type as EventType, 0, attributes));
  return (event) => {
    const attributesOf = COUNTED_BY[event.type] as ((event: OwnershipEvent) => Attributes) | undefined;
    add(event.type, 1, attributesOf?.(event));
    for (const [type, attributes] of fromZeroOn(event)) add(type, 0, attributes);
  };
}
