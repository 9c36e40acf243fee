interface Followed {
  readonly calls: Set<() => void>;
  readonly listener: () => void;
}

/** The callers' signals that are followed. */
const followed = new WeakMap<AbortSignal, Followed>();

/**
 * Calls `call` when the signal fires; returns what ends that.
 *
 * One listener for each signal, however many follow it: a program has one signal for its shutdown and gives it to
 * every request, and from the eleventh listener on Node warns of a leak. `AbortSignal.any` does not warn either, but
 * never ends: a lease that is over would be held by the program's signal for as long as anything listens to its own.
 */
export function follow(signal: AbortSignal, call: () => void): () => void {
  const { calls, listener } = followed.get(signal) ?? listenTo(signal);
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    signal.removeEventListener('abort', listener);
    followed.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Followed {
  const calls = new Set<() => void>();
  const listener = (): void => {
    followed.delete(signal);
    for (const call of [...calls]) call();
    calls.clear();
  };
  signal.addEventListener('abort', listener, { once: true });
  const made = { calls, listener };
  followed.set(signal, made);
  return made;
}
