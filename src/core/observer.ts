import { type EventFacts, type EventType, type OwnershipEvent, type Severity } from './event.js';
import { type CounterName, type Counters, EVENT_TYPES } from './event-types.js';
import { unawaited } from './unawaited.js';

/** What a caller's observer may be; whatever it throws, or rejects with, is swallowed. */
export type Listener = (event: OwnershipEvent) => unknown;

/** What a caller says how much an event matters; anything but a severity leaves its own. */
export type Weigh = (event: OwnershipEvent) => unknown;

const SEVERITIES: readonly Severity[] = ['debug', 'info', 'warning', 'alert'];

/** Counts every event and hands it to the caller's observer, which may watch and never touch. */
export class Observer {
  readonly #counts = new Map<CounterName, number>();
  readonly #listener: Listener | undefined;
  readonly #followers = new Set<Listener>();
  readonly #severity: Weigh | undefined;

  constructor(listener: Listener | undefined, severity?: Weigh) {
    this.#listener = listener;
    this.#severity = severity;
  }

  /** Reports one event; never throws and is never waited for. */
  emit<T extends EventType>(type: T, facts: EventFacts[T]): void {
    const { counter, severity } = EVENT_TYPES[type];
    this.#counts.set(counter, (this.#counts.get(counter) ?? 0) + 1);
    if (this.#listener === undefined && this.#followers.size === 0) return;
    const plain = { type, severity, ...facts } as unknown as OwnershipEvent;
    const event = Object.freeze({ ...plain, severity: this.#weighed(plain) });
    if (this.#listener !== undefined) hand(this.#listener, event);
    for (const follower of this.#followers) hand(follower, event);
  }

  #weighed(event: OwnershipEvent): Severity {
    if (this.#severity === undefined) return event.severity;
    try {
      const said = unawaited(this.#severity(event));
      return SEVERITIES.find((severity) => severity === said) ?? event.severity;
    } catch {
      return event.severity;
    }
  }

  /** Hands every event to another listener too. */
  follow(follower: Listener): void {
    this.#followers.add(follower);
  }

  /** The counters so far; those of events that never happened are 0. */
  counters(): Counters {
    const names = Object.values(EVENT_TYPES).map(({ counter }) => counter);
    return Object.freeze(Object.fromEntries(names.map((name) => [name, this.#counts.get(name) ?? 0])) as Counters);
  }
}

function hand(listener: Listener, event: OwnershipEvent): void {
  try {
    unawaited(listener(event));
  } catch {
    // An observer that throws must not change what it observes.
  }
}
