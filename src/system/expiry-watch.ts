import type { Clock } from '../port/clock.js';

interface Sighting {
  readonly expiresAtMs: number;
  readonly sinceMs: number;
}

/** The most claims that are remembered; only rows that outlive their own TTL are, and there are few. */
const MAX = 10_000;

/** Since when an observer has seen the expiry of a claim unchanged, on its own monotonic clock. */
export class ExpiryWatch {
  readonly #seen = new Map<string, Sighting>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Remembers what was seen now, and returns for how long it has been so. */
  unchangedForMs(claim: string, expiresAtMs: number): number {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#seen.get(claim);
    if (before?.expiresAtMs === expiresAtMs) return nowMs - before.sinceMs;
    this.#seen.delete(claim);
    if (this.#seen.size >= MAX) {
      for (const oldest of this.#seen.keys()) {
        this.#seen.delete(oldest);
        break;
      }
    }
    this.#seen.set(claim, { expiresAtMs, sinceMs: nowMs });
    return 0;
  }

  /** Forgets a claim whose row is gone. */
  forget(claim: string): void {
    this.#seen.delete(claim);
  }
}
