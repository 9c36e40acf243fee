import type { Clock } from '../port/clock.js';

/** One instant on both local clocks; elapsed time is the greater of the two, for a suspended machine stops one. */
export interface Anchor {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The anchor of now: taken before a question is sent, never after its reply came. */
export function anchorNow(clock: Clock): Anchor {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/** Milliseconds since an anchor, on the clock that ran further. */
export function elapsedMs(clock: Clock, since: Anchor): number {
  return Math.max(clock.monotonicMs() - since.monotonicMs, clock.wallMs() - since.wallMs);
}
