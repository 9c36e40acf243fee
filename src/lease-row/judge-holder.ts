import { type Context, registrationOf } from '../context.js';
import type { Holder } from '../core/holder.js';
import { type Judgement, judge } from '../core/verdict.js';

/** A holder as it was read: with the clock of the database, and its expiry as the driver gave it. */
export interface SeenHolder {
  readonly holder: Holder;
  readonly nowMs: number;
  /** What a reclaim compares: also an expiry that no one can read is that of one acquisition. */
  readonly expiry: unknown;
}

/** A holder with the verdict on it. */
export interface Judged extends SeenHolder {
  readonly judgement: Judgement;
}

/** Judges a holder with all that this process knows: the one bridge between the world and the truth table. */
export function judgeHolder(context: Context, seen: SeenHolder): Judged {
  const { settings, ports, sightings } = context;
  const { holder, nowMs } = seen;
  const { expiresAtMs, ttlMs } = holder;
  const setBack = expiresAtMs !== null && ttlMs !== null && expiresAtMs - nowMs > ttlMs;
  const observation = {
    nowMs,
    self: ports.identity,
    registered: registrationOf(context, holder),
    unchangedForMs: setBack ? sightings.unchangedForMs(holder.claim, expiresAtMs) : 0,
    sight: (pid: number) => ports.processes.sight(pid),
  };
  return { ...seen, judgement: judge(holder, observation, settings.liveness) };
}
