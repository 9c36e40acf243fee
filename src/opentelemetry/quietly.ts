/** A meter or a tracer in trouble changes nothing for anybody else. */
export function quietly(work: () => unknown): void {
  try {
    work();
  } catch {
    // There is no one to report it to.
  }
}
