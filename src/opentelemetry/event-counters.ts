import { type Attributes, type Counter, type Meter, ValueType } from '@opentelemetry/api';
import type { EventType, OwnershipEvent } from '../index.js';
import { COUNTINGS, type Counting } from './countings.js';

/** Counts events; `common` is an attribute of every measurement. */
export function eventCounters(meter: Meter, common: Attributes): (event: OwnershipEvent) => void {
  const counters = new Map<string, Counter>();
  for (const [type, { name, unit, description }] of Object.entries(COUNTINGS))
    counters.set(type, meter.createCounter(name, { unit, description, valueType: ValueType.INT }));
  return (event) => {
    const { attributes } = COUNTINGS[event.type] as Counting<EventType>;
    counters.get(event.type)?.add(1, { ...common, ...attributes?.(event) });
  };
}
