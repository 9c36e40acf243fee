import type { OwnershipEvent } from '../../index.js';

/** A listener that keeps what it hears. */
export interface EventRecord {
  /** The listener: pass it as the option `onEvent`. */
  readonly onEvent: (event: OwnershipEvent) => void;
  /** Everything heard so far, in order. */
  readonly events: readonly OwnershipEvent[];
  /** Everything heard of one type, in order. */
  readonly of: <T extends OwnershipEvent['type']>(type: T) => Extract<OwnershipEvent, { readonly type: T }>[];
  /** Forgets everything. */
  readonly clear: () => void;
}

/**
 * Makes a listener that records events.
 *
 * @example
 * ```ts
 * import { createTransitionOwnership } from 'transition-ownership';
 * import { recordEvents } from 'transition-ownership/testing';
 * import { db } from './setup.js';
 *
 * const { onEvent, of } = recordEvents();
 * createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' }, onEvent });
 * of('lease.lost').length; // 0
 * ```
 */
export function recordEvents(): EventRecord {
  const events: OwnershipEvent[] = [];
  return {
    onEvent: (event) => void events.push(event),
    events,
    of: <T extends OwnershipEvent['type']>(type: T) =>
      events.filter((event): event is Extract<OwnershipEvent, { readonly type: T }> => event.type === type),
    clear: () => void events.splice(0),
  };
}
