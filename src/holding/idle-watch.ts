/** Tells whoever waits for it when no lease of this process is left. */
export class IdleWatch {
  /** True while there is none. */
  readonly isIdle: () => boolean;
  readonly #waiting = new Set<() => void>();

  constructor(isIdle: () => boolean) {
    this.isIdle = isIdle;
  }

  /** A lease ended. */
  look(): void {
    if (this.#waiting.size === 0 || !this.isIdle()) return;
    for (const tell of [...this.#waiting]) tell();
    this.#waiting.clear();
  }

  /** Calls back once, at once if there is none already; returns what ends the wait. */
  wait(tell: () => void): () => void {
    if (this.isIdle()) tell();
    else this.#waiting.add(tell);
    return () => void this.#waiting.delete(tell);
  }
}
