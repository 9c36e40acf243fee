import type { IdValue } from '../core/id.js';

/** A lease of this process that has no row: no other process sees it. */
export interface UnguardedHold {
  readonly taskId: IdValue;
  readonly actor: string;
  readonly stage: string | null | undefined;
  /** When it was granted, by the local wall clock. */
  readonly sinceMs: number;
  readonly reason: 'off' | 'out-of-scope' | 'store-failed' | 'observed';
}

/** The holds of this process without a row, until each is released, or no one can release it any more. */
export class UnguardedHolds {
  /** The ids of holds as the rows of their tasks spell them, where that was asked. */
  readonly spelled = new WeakMap<UnguardedHold, IdValue>();
  readonly #holds = new Map<string, UnguardedHold>();
  /** A lease that is garbage is released by no one. */
  readonly #lost = new FinalizationRegistry<string>((claim) => this.end(claim));
  readonly #ended: () => void;

  constructor(ended: () => void) {
    this.#ended = ended;
  }

  begin(claim: string, hold: UnguardedHold, lease: object): void {
    this.#holds.set(claim, hold);
    this.#lost.register(lease, claim);
  }

  end(claim: string): void {
    if (this.#holds.delete(claim)) this.#ended();
  }

  get all(): readonly UnguardedHold[] {
    return [...this.#holds.values()];
  }

  get size(): number {
    return this.#holds.size;
  }
}
