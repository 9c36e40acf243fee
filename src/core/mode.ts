import { inspectValue } from './inspect-value.js';
import { unawaited } from './unawaited.js';

/**
 * Whether the library guards at all: `off` does what the orchestrator did before, `observe` too and reports what `on`
 * would have refused, `draining` grants nothing new.
 */
export type Mode = 'on' | 'observe' | 'draining' | 'off';

/** True where leases of the dead are deleted: not while the mode drains, nor where nothing is guarded. */
export const mayReclaim = (mode: Mode): boolean => mode === 'on' || mode === 'observe';

const MODES: readonly unknown[] = ['on', 'observe', 'draining', 'off'];

/** A switch that throws, or returns nonsense, is on: a broken switch must not switch the guard off. */
export function readMode(mode: Mode | (() => Mode)): () => Mode {
  if (typeof mode === 'function') {
    return () => {
      try {
        const read = unawaited(mode());
        return MODES.includes(read) ? read : 'on';
      } catch {
        return 'on';
      }
    };
  }
  if (!MODES.includes(mode))
    throw new RangeError(`mode must be "on", "observe", "draining" or "off", got ${inspectValue(mode)}`);
  return () => mode;
}
