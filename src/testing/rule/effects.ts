import type { AnyTables } from '../store/store.js';
import { type Invariant, invariant } from '../world/invariant.js';

/**
 * An effect takes place at most once, whoever asks for it and however often.
 *
 * Counts the effects of that label that really took place, those whose answer got lost included.
 *
 * @param label - As it was given to `process.effect`, or `label.method` of a `process.port`.
 */
export function effectAtMostOnce<DB = AnyTables>(label: string): Invariant<DB> {
  return invariant<DB>(`effect "${label}" at most once`, (world) => {
    const times = world.effects.get(label) ?? 0;
    return times <= 1 || `it took place ${times} times`;
  });
}
