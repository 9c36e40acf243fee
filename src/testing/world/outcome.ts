import type { Incarnation } from './incarnation.js';
import type { InFlight, Outcome, Parked } from './parked.js';
import { inTime, NoReply, replyLimitMs } from './reply-limit.js';
import type { WorldState } from './state.js';
import { EndlessEffect } from './trouble.js';
import { after, turn } from './turn.js';

/** Real time that an effect may take; and how soon one is looked at that seems to await what only the world can give. */
const effectLimitMs = 5_000;
const nestedLimitMs = 50;

/** Runs what a process waits for. Drivers may throw as well as reject. */
export async function outcomeOf(parked: Parked, nested?: () => boolean): Promise<Outcome> {
  try {
    const running = parked.run();
    if (!(running instanceof Promise)) return { ok: true, value: running };
    return { ok: true, value: parked.kind === 'effect' ? await within(parked, running, nested) : await running };
  } catch (error) {
    if (error instanceof EndlessEffect) throw error;
    return { ok: false, error };
  }
}

/** The outcome, or `undefined` once the server says that the statement waits for a lock. */
export async function outcomeOrBlocked(
  by: Incarnation,
  parked: Parked,
  running: Promise<Outcome>,
): Promise<Outcome | undefined> {
  const soon = await Promise.race([running, turn()]);
  if (soon !== undefined) return soon;
  const what = `«${parked.label}» of process ${by.name}`;
  if (by.connection?.blocked === undefined) return inTime(running, what);
  const untilMs = performance.now() + replyLimitMs;
  for (let waitMs = 1; performance.now() < untilMs; waitMs = Math.min(waitMs * 2, 20)) {
    const outcome = await Promise.race([running, after(waitMs)]);
    if (outcome !== undefined) return outcome;
    if (await inTime(by.connection.blocked(), what)) return Promise.race([running, turn().then(() => undefined)]);
  }
  throw new NoReply(what);
}

/** Collects the statements whose lock has come free, in the order in which they are seen to end. */
export async function collectFreed<DB>(
  state: WorldState<DB>,
  deliver: (by: Incarnation, freed: InFlight, outcome: Outcome) => Promise<void>,
): Promise<void> {
  if (!state.processes.some((each) => each.inFlight.length > 0)) return;
  for (let moved = true; moved; ) {
    moved = false;
    // A server may tell of an error before it has let go of the locks that the failed transaction had.
    await after(lettingGoMs);
    for (const each of state.processes) {
      for (const inFlight of [...each.inFlight]) {
        const outcome = await outcomeOrBlocked(each, inFlight.parked, inFlight.outcome);
        if (outcome === undefined) continue;
        each.inFlight = each.inFlight.filter((other) => other !== inFlight);
        await deliver(each, inFlight, outcome);
        moved = true;
      }
    }
  }
}

/** Real time within which a server that has answered lets go of locks. */
const lettingGoMs = 10;

async function within(
  parked: Parked,
  running: Promise<unknown>,
  nested: () => boolean = () => false,
): Promise<unknown> {
  const timers: NodeJS.Timeout[] = [];
  const limit = new Promise<never>((_, reject) => {
    const end = (isNested: boolean) => reject(new EndlessEffect(parked.process, parked.label, isNested));
    timers.push(setTimeout(() => nested() && end(true), nestedLimitMs));
    timers.push(setTimeout(() => end(nested()), effectLimitMs));
  });
  try {
    return await Promise.race([running, limit]);
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}
