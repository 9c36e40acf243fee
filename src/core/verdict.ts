import { checkObject } from './check.js';
import type { Holder } from './holder.js';
import { inspectValue } from './inspect-value.js';
import type { ProcessIdentity, ProcessSighting } from './process.js';
import { unawaited } from './unawaited.js';

/** Is the owner of a lease alive? `unknown` is not `dead`, but expiry ends everything. */
export type Verdict = 'live' | 'dead' | 'unknown';

/** The evidence a verdict rests on: a row of the truth table, or what a judge of your own says. */
export type VerdictReason =
  | 'over-budget'
  | 'expired'
  | 'clock-set-back'
  | 'claim-registered'
  | 'orphaned'
  | 'process-gone'
  | 'pid-reused'
  | 'process-alive'
  | 'another-boot'
  | 'unexpired'
  | 'unreadable'
  | (string & {});

/** A verdict with its evidence. */
export interface Judgement {
  /** Alive, dead, or not known. */
  readonly verdict: Verdict;
  /** The row of the truth table that decided. */
  readonly reason: VerdictReason;
}

/** What one observer knows when it judges a holder. */
export interface Observation {
  /** The clock of the database, read in the statement that read the row, epoch ms. */
  readonly nowMs: number;
  /** The observer's own process. */
  readonly self: ProcessIdentity;
  /** What the observer's process knows of the row's claim; a provisional one is not yet seen committed. */
  readonly registered: 'no' | 'yes' | 'provisional';
  /** How long this observer has seen the row's `expiresAtMs` unchanged, on its own monotonic clock. */
  readonly unchangedForMs: number;
  /** Looks the holder's pid up; called only where its answer counts. */
  readonly sight: (pid: number) => ProcessSighting;
}

/** Judges a holder whose times alone do not decide. */
export interface Liveness {
  /** Shown in the snapshot. */
  readonly name: string;
  /** Called for an unexpired row only: evidence can end a lease early, never keep it alive. */
  judge(holder: Holder, observation: Observation): Judgement;
}

/** The judge alone, as a function. */
export type Judge = Liveness['judge'];

const judged = (verdict: Verdict, reason: VerdictReason): Judgement => Object.freeze({ verdict, reason });

const OVER_BUDGET = judged('dead', 'over-budget');
const EXPIRED = judged('dead', 'expired');
const CLOCK_SET_BACK = judged('live', 'clock-set-back');
const REGISTERED = judged('live', 'claim-registered');
const ORPHANED = judged('dead', 'orphaned');
const PROCESS_GONE = judged('dead', 'process-gone');
const PID_REUSED = judged('dead', 'pid-reused');
const PROCESS_ALIVE = judged('live', 'process-alive');
const ANOTHER_BOOT = judged('dead', 'another-boot');
const UNEXPIRED = judged('live', 'unexpired');
const UNREADABLE = judged('unknown', 'unreadable');

/**
 * The truth table of liveness: pure, and the only judge there is.
 *
 * | evidence, in this order | verdict |
 * |---|---|
 * | past its deadline | dead, `over-budget` |
 * | past its expiry | dead, `expired` |
 * | my claim, in use | live, `claim-registered` |
 * | my identity, claim not in use | dead, `orphaned` |
 * | pid of my host scope gone | dead, `process-gone` |
 * | that pid exists with another start mark | dead, `pid-reused` |
 * | that pid exists with the same start mark | live, `process-alive` |
 * | expires later than its own TTL from now | live, `clock-set-back`, until seen unchanged for a TTL |
 * | anything else, a judge that throws included | live, `unexpired`; unknown where even the expiry cannot be read |
 */
export function judge(holder: Holder, observation: Observation, liveness: Liveness): Judgement {
  checkObject('holder', holder);
  checkObject('observation', observation);
  checkLiveness(liveness);
  const { nowMs } = observation;
  const { expiresAtMs, deadlineAtMs, ttlMs } = holder;
  if (deadlineAtMs !== null && nowMs >= deadlineAtMs) return OVER_BUDGET;
  if (expiresAtMs === null || ttlMs === null) return UNREADABLE;
  if (nowMs >= expiresAtMs) return EXPIRED;
  const judgement = observation.registered === 'provisional' ? UNEXPIRED : ask(liveness, holder, observation);
  // What needs no clock has spoken, or has nothing to say: only then is the clock asked whether it was set back.
  if (judgement.verdict !== 'live' || judgement.reason !== UNEXPIRED.reason || expiresAtMs - nowMs <= ttlMs)
    return judgement;
  return observation.unchangedForMs >= ttlMs ? EXPIRED : CLOCK_SET_BACK;
}

/** Throws for a judge that cannot be asked. */
export function checkLiveness(liveness: unknown): asserts liveness is Liveness {
  if (typeof (liveness as Partial<Liveness> | null | undefined)?.judge !== 'function') {
    throw new TypeError(`liveness must be a function, or have a function judge, got ${inspectValue(liveness)}`);
  }
}

/** The liveness of an option: a function is a judge of the caller, without a name. */
export function livenessOf(option: Liveness | Judge | undefined): Liveness {
  if (option === undefined) return processAndHeartbeat();
  const liveness = typeof option === 'function' ? Object.freeze({ name: 'own', judge: option }) : option;
  checkLiveness(liveness);
  return liveness;
}

const VERDICTS: readonly unknown[] = ['live', 'dead', 'unknown'] satisfies readonly Verdict[];

/** A caller's judge that throws, or returns nonsense, is a probe that failed: it proves nothing. */
function ask(liveness: Liveness, holder: Holder, observation: Observation): Judgement {
  try {
    const { verdict, reason } = unawaited(liveness.judge(holder, observation));
    return VERDICTS.includes(verdict) && typeof reason === 'string' ? judged(verdict, reason) : UNEXPIRED;
  } catch {
    return UNEXPIRED;
  }
}

/** True if the row was written by the observer's own process: all four parts of the identity are equal. */
export function isOwnProcess(holder: Holder, self: ProcessIdentity): boolean {
  return (
    holder.bootId === self.bootId && holder.pid === self.pid && holder.host === self.host && holder.start === self.start
  );
}

function judgeOwn(observation: Observation): Judgement {
  return observation.registered === 'no' ? ORPHANED : REGISTERED;
}

function judgeProcess({ pid, start, host }: Holder, observation: Observation): Judgement {
  if (pid === null || host === null || host !== observation.self.host) return UNEXPIRED;
  const sighting = observation.sight(pid);
  if (sighting.state === 'gone') return PROCESS_GONE;
  if (sighting.state === 'unknown' || start === null || sighting.start === null) return UNEXPIRED;
  return sighting.start === start ? PROCESS_ALIVE : PID_REUSED;
}

/**
 * The default liveness: processes of the same host are looked up, all others are trusted until they expire.
 *
 * @example
 * ```ts
 * import { processAndHeartbeat } from 'transition-ownership';
 *
 * processAndHeartbeat().name; // 'process-and-heartbeat'
 * ```
 */
export function processAndHeartbeat(): Liveness {
  return Object.freeze({
    name: 'process-and-heartbeat',
    judge: (holder: Holder, observation: Observation) =>
      isOwnProcess(holder, observation.self) ? judgeOwn(observation) : judgeProcess(holder, observation),
  });
}

/** Liveness by times alone: for cloned machines, or wherever pids must prove nothing. */
export function heartbeatOnly(): Liveness {
  return Object.freeze({ name: 'heartbeat-only', judge: () => UNEXPIRED });
}

/**
 * Liveness of a deployment with exactly one process: any other boot is dead at once.
 *
 * Started twice, two processes would each call the other dead; choose it only where that cannot happen.
 */
export function singleProcess(): Liveness {
  return Object.freeze({
    name: 'single-process',
    judge: (holder: Holder, observation: Observation) =>
      holder.bootId === observation.self.bootId ? judgeOwn(observation) : ANOTHER_BOOT,
  });
}
