/** Keeps work in a set until it ends, whichever way. */
export function underWay<T>(running: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  running.add(work);
  return work.finally(() => running.delete(work));
}
