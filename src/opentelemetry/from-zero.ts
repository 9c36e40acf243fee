import type { Attributes } from '@opentelemetry/api';
import type { EventType, OwnershipEvent } from '../index.js';
import { DEAD_REASONS } from './known-reason.js';

const each = (name: string, values: readonly string[]): readonly Attributes[] =>
  values.map((value) => ({ [`transition_ownership.${name}`]: value }));

/**
 * The series of what wants a person, which are there from the beginning: an alert on the growth of a counter does not
 * see the first count of one that was not there before.
 */
export const FROM_ZERO: Readonly<Partial<Record<EventType, readonly Attributes[]>>> = {
  'lease.forced': [{}],
  'lease.reclaimed': each('reason', DEAD_REASONS),
  'lease.lost': each('reason', ['superseded', 'gone', 'over-budget', 'unverifiable']),
  'lease.release-failed': [{}],
  'lease.renewal-failed': each('reason', ['late', 'failed']),
  'job.reap-failed': [{}],
  'queue.impossible-found': [{}],
};

/** Those that are known when something has begun: the alerts about an effect, by its name. */
export function fromZeroOn(event: OwnershipEvent): readonly (readonly [type: EventType, attributes: Attributes])[] {
  if (event.type !== 'effect.started') return [];
  const attributes = { 'transition_ownership.effect.name': event.effect };
  return [
    ['effect.unknown', attributes],
    ['effect.unrecorded', attributes],
  ];
}
