import type { JobProcess } from './job-process.js';
import { nullable, number, oneOf, type RulesOf, requestOf } from './request.js';

/** The bounds of a reaper. */
export interface ReapLimits {
  /** Ticks in a row at which a process must be dead. */
  readonly deadTicks: number;
  /** How long a process must have been dead, so that what finalizes its job can end, in ms. */
  readonly finalizeGraceMs: number;
  /** How long a job may run, whatever its process does, in ms. */
  readonly maxRunningMs: number;
}

/** The lease on the task of a job: no one's, or with the verdict on its holder; `unreadable` where that is not known. */
export type JobLease = 'none' | 'live' | 'unknown' | 'dead' | 'unreadable';

/** What a reaper knows of one running job at one tick. */
export interface RunningEvidence {
  /** The pid that is recorded; `null` between the claim and the stamp. */
  readonly pid: number | null;
  /** Whether that process is alive. */
  readonly process: JobProcess;
  /** At how many ticks in a row, this one included, the process was dead; 0 if it is not. */
  readonly deadTicks: number;
  /** Since it was first seen dead, on the reaper's own monotonic clock, in ms. */
  readonly deadForMs: number;
  /** Since it was claimed, by the database's clock, in ms. */
  readonly runningForMs: number;
  /** Whether another process is in the middle of moving its task. */
  readonly lease: JobLease;
}

/** What becomes of a running job, and why. */
export type RunningAssessment =
  | { readonly state: 'reap'; readonly tier: 3; readonly reason: 'running-too-long' }
  | { readonly state: 'starting'; readonly tier: null; readonly reason: 'no-pid' }
  | { readonly state: 'alive'; readonly tier: null; readonly reason: 'process-alive' | 'no-evidence' }
  | {
      readonly state: 'deferred';
      readonly tier: 2;
      readonly reason: 'lease-live' | 'lease-unknown' | 'lease-unreadable';
    }
  | { readonly state: 'suspected'; readonly tier: null; readonly reason: 'too-few-ticks' | 'within-grace' }
  | { readonly state: 'reap'; readonly tier: 1; readonly reason: 'process-gone' };

const checkEvidence = requestOf(
  {
    pid: nullable(number),
    process: oneOf('alive', 'dead', 'unknown'),
    deadTicks: number,
    deadForMs: number,
    runningForMs: number,
    lease: oneOf('none', 'live', 'unknown', 'dead', 'unreadable'),
  } satisfies RulesOf<RunningEvidence>,
  'evidence',
);

const checkLimits = requestOf(
  { deadTicks: number, finalizeGraceMs: number, maxRunningMs: number } satisfies RulesOf<ReapLimits>,
  'limits',
);

/**
 * Decides what becomes of a running job: pure, one truth table, and the reaper's only judge.
 *
 * | evidence, in this order | outcome |
 * |---|---|
 * | running longer than `maxRunningMs` | reap, tier 3, whatever the pid and the lease say |
 * | no pid recorded yet | starting |
 * | its process is alive | alive |
 * | no one knows | alive, `no-evidence`: only tier 3 ends it |
 * | process gone, and a lease on its task that is not proved dead | deferred, tier 2 |
 * | process gone for fewer than `deadTicks` ticks in a row | suspected |
 * | process gone for less than `finalizeGraceMs` | suspected |
 * | process gone for both | reap, tier 1 |
 *
 * @example
 * ```ts
 * import { assessRunningJob } from 'transition-ownership';
 *
 * const limits = { deadTicks: 2, finalizeGraceMs: 60_000, maxRunningMs: 3_600_000 };
 * const evidence = { pid: 77, process: 'dead', deadTicks: 2, deadForMs: 60_000, runningForMs: 90_000, lease: 'none' } as const;
 * assessRunningJob(evidence, limits); // { state: 'reap', tier: 1, reason: 'process-gone' }
 * ```
 */
export function assessRunningJob(evidence: RunningEvidence, limits: ReapLimits): RunningAssessment {
  const { pid, process, deadTicks, deadForMs, runningForMs, lease } = checkEvidence(evidence);
  const { maxRunningMs, deadTicks: demandedTicks, finalizeGraceMs } = checkLimits(limits);
  if (runningForMs > maxRunningMs) return { state: 'reap', tier: 3, reason: 'running-too-long' };
  if (pid === null) return { state: 'starting', tier: null, reason: 'no-pid' };
  if (process === 'alive') return { state: 'alive', tier: null, reason: 'process-alive' };
  if (process === 'unknown') return { state: 'alive', tier: null, reason: 'no-evidence' };
  if (lease !== 'none' && lease !== 'dead') return { state: 'deferred', tier: 2, reason: `lease-${lease}` };
  if (deadTicks < demandedTicks) return { state: 'suspected', tier: null, reason: 'too-few-ticks' };
  if (deadForMs < finalizeGraceMs) return { state: 'suspected', tier: null, reason: 'within-grace' };
  return { state: 'reap', tier: 1, reason: 'process-gone' };
}
