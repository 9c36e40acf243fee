/** The errors that were injected, so that a process may die of them. */
class InjectedErrors {
  private readonly made = new WeakSet();

  /** Remembers an error as injected. */
  add(error: Error): Error {
    this.made.add(error);
    return error;
  }

  /** Whether an error, or anything that it names as its cause, was injected. */
  explains(error: unknown): boolean {
    for (let cause = error, depth = 0; typeof cause === 'object' && cause !== null && depth < 8; depth++) {
      if (this.made.has(cause)) return true;
      cause = Reflect.get(cause, 'cause');
    }
    return false;
  }
}

/** Shared by all schedules: an error object is injected once and never again. */
export const injected = new InjectedErrors();
