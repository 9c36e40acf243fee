/** Keeps work in a set until it ends, whichever way. */
export function inFlight<T>(running: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  const ended = (): void => void running.delete(work);
  running.add(work);
  work.then(ended, ended);
  return work;
}
