import { type Context, registrationOf } from '../context.js';
import type { Holder } from '../core/holder.js';
import { type Judgement, judge } from '../core/verdict.js';

/** A holder with the verdict on it, and the clock of the database that it was judged by. */
export interface Judged {
  readonly holder: Holder;
  readonly judgement: Judgement;
  readonly nowMs: number;
}

/** Judges a holder with all that this process knows: the one bridge between the world and the truth table. */
export function judgeHolder(context: Context, holder: Holder, nowMs: number): Judged {
  const { settings, ports, sightings } = context;
  const { expiresAtMs, ttlMs } = holder;
  const setBack = expiresAtMs !== null && ttlMs !== null && expiresAtMs - nowMs > ttlMs;
  const observation = {
    nowMs,
    self: ports.identity,
    registered: registrationOf(context, holder),
    unchangedForMs: setBack ? sightings.unchangedForMs(holder.claim, expiresAtMs) : 0,
    sight: (pid: number) => ports.processes.sight(pid),
  };
  return { holder, judgement: judge(holder, observation, settings.liveness), nowMs };
}
