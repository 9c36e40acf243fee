/** How many beginnings are remembered at once: where an end is never told, memory stays bounded. */
const MAX = 10_000;

interface Begun {
  readonly at: number;
  readonly again: number;
}

/** When things began, by what they are. */
export class Since {
  readonly #begun = new Map<string, Begun>();
  readonly #forgetMs: number;

  /** What was not begun again for so long is forgotten. */
  constructor(forgetMs = Number.POSITIVE_INFINITY) {
    this.#forgetMs = forgetMs;
  }

  /** Begins something; what has begun goes on, unless it is begun `anew`. */
  begin(what: readonly unknown[], anew = false): void {
    const key = JSON.stringify(what);
    const now = performance.now();
    const at = anew ? now : (this.#of(key, now)?.at ?? now);
    this.#begun.delete(key);
    const [oldest] = this.#begun.keys();
    if (oldest !== undefined && this.#begun.size >= MAX) this.#begun.delete(oldest);
    this.#begun.set(key, { at, again: now });
  }

  /** How long it took, in ms; `undefined` if it has not begun. */
  end(what: readonly unknown[]): number | undefined {
    const key = JSON.stringify(what);
    const now = performance.now();
    const begun = this.#of(key, now);
    this.#begun.delete(key);
    return begun && now - begun.at;
  }

  #of(key: string, now: number): Begun | undefined {
    const begun = this.#begun.get(key);
    return begun !== undefined && now - begun.again <= this.#forgetMs ? begun : undefined;
  }
}
