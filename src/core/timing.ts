import { duration, optional } from './request.js';

/** How long a lease lives, how often it is renewed, and how long one hold may last. */
export interface Timing {
  /** Life of a lease after its last renewal, in ms. */
  readonly ttlMs: number;
  /** Time between two renewals, in ms. */
  readonly renewEveryMs: number;
  /** The hard bound of one hold, in ms, never moved by renewals. */
  readonly maxHoldMs: number;
}

/** The timing of an ownership that says nothing: 30 s, renewed every 10 s, held for an hour at most. */
export const DEFAULT_TIMING: Timing = Object.freeze({ ttlMs: 30_000, renewEveryMs: 10_000, maxHoldMs: 3_600_000 });

/** The shortest TTL: below it the safety margin leaves a holder no time to trust itself. */
export const MIN_TTL_MS = 150;

/** The part of the TTL, in ms, that a holder gives up so as to stop before others may take over. */
export function marginMs(ttlMs: number): number {
  return Math.max(Math.floor(ttlMs / 10), 100);
}

/** The rules of the times; their relation is {@link checkRenewals}. */
export const timingRules = {
  ttlMs: optional(duration(MIN_TTL_MS), DEFAULT_TIMING.ttlMs),
  renewEveryMs: optional(duration(10), DEFAULT_TIMING.renewEveryMs),
  maxHoldMs: optional(duration(), DEFAULT_TIMING.maxHoldMs),
};

/** Throws for times whose relation would lose leases: two renewals may fail and the third still comes in time. */
export function checkRenewals(ttlMs: number, renewEveryMs: number): void {
  if (ttlMs < 3 * renewEveryMs) {
    throw new RangeError(
      `ttlMs must be at least three times renewEveryMs, got ttlMs ${ttlMs} and renewEveryMs ${renewEveryMs}`,
    );
  }
}
