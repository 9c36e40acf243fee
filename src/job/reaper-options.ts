import type { Context } from '../context.js';
import { inspectValue } from '../core/inspect-value.js';
import type { JobProcess } from '../core/job-process.js';
import type { ReapLimits } from '../core/reap.js';
import { callable, duration, given, limit, optional, type RulesOf, requestOf } from '../core/request.js';
import type { ShapeWithJobs } from '../shape.js';
import type { FoundJob } from './found-job.js';

/** A running job, as a reaper shows it to the caller's functions. */
export interface RunningJob<S extends ShapeWithJobs = ShapeWithJobs> extends FoundJob<S> {
  /** Its `started_at` in epoch ms; `null` where it cannot be read. */
  readonly startedAtMs: number | null;
  /** Since then, by the database's clock, in ms; since the reaper first saw it where it cannot be read. */
  readonly runningForMs: number;
  /** All its columns. */
  readonly row: S['jobs']['row'];
}

/** A running job that is to be taken from its run. */
export interface DeadJob<S extends ShapeWithJobs = ShapeWithJobs> extends RunningJob<S> {
  /** Why: its process is gone (tier 1), or it ran for longer than `maxRunningMs` (tier 3). */
  readonly reason: 'process-gone' | 'running-too-long';
  /** True for tier 3: its process may still run. */
  readonly forced: boolean;
}

/**
 * What is done with a dead run's job: back to the queue, to `failed`, left as it is, or to a status of yours
 * with further columns. To the queue all run ownership is cleared; to any other status it is kept as a record,
 * and `finishedAt` is set.
 */
export type ReapDecision<S extends ShapeWithJobs = ShapeWithJobs> =
  | 'requeue'
  | 'fail'
  | 'leave'
  | { readonly status: S['jobs']['status']; readonly set?: S['jobs']['requeueSet'] };

/** How a reaper works. */
export interface ReaperOptions<S extends ShapeWithJobs> {
  /** Ticks in a row at which a process must be dead, from 1 to 1,000. Default 2. */
  readonly deadTicks?: number | undefined;
  /** How long a process must have been dead, so that what finalizes its job can end, in ms, from 0 to a year. */
  readonly finalizeGraceMs: number;
  /** How long a job may run, whatever its process does, in ms, up to a year; at least `lease.maxHoldMs`. */
  readonly maxRunningMs: number;
  /**
   * The longest time between two ticks that still counts as observation, in ms, from 1 to a year. A longer one,
   * unless it is your rhythm, starts `deadTicks` and `finalizeGraceMs` anew: this process stood still, and so
   * perhaps did the finalizer. Default: twice `finalizeGraceMs`, at least 60,000.
   */
  readonly maxGapMs?: number | undefined;
  /**
   * What is done with a dead run's job, or a function that decides for each. A promise may be one of any string, for
   * the compiler takes `async () => 'requeue'` for that; a result that is none of these is reported by `job.reap-failed`.
   */
  readonly onDead:
    | 'requeue'
    | 'fail'
    | ((job: DeadJob<S>) => ReapDecision<S> | PromiseLike<ReapDecision<S>> | PromiseLike<string>);
  /** Says whether the process of a job with a pid is alive, in place of looking the pid up on this host. */
  readonly probe?: ((job: RunningJob<S>) => JobProcess | PromiseLike<string>) | undefined;
  /** How long a probe may take, in ms, up to a year; one that takes longer has failed, and proves nothing. Default 10,000. */
  readonly probeTimeoutMs?: number | undefined;
}

/** The options after their check. */
export interface ReapPlan {
  readonly limits: ReapLimits;
  readonly maxGapMs: number;
  readonly onDead: (job: DeadJob) => unknown;
  readonly probe: ((job: RunningJob) => unknown) | undefined;
  readonly probeTimeoutMs: number;
}

const MIN_GAP_MS = 60_000;

const check = requestOf(
  {
    deadTicks: optional(limit(1_000), 2),
    finalizeGraceMs: duration(0),
    maxRunningMs: duration(),
    maxGapMs: optional(duration()),
    onDead: given,
    probe: optional(callable),
    probeTimeoutMs: optional(duration(), 10_000),
  } satisfies RulesOf<ReaperOptions<ShapeWithJobs>>,
  'options',
);

/** Throws for options that cannot work; a violated relation names both values. */
export function checkReaper({ settings }: Context, options: unknown): ReapPlan {
  const { deadTicks, finalizeGraceMs, maxRunningMs, onDead, probe, probeTimeoutMs, ...rest } = check(options);
  const { maxHoldMs } = settings.timing;
  if (maxHoldMs > maxRunningMs) {
    throw new RangeError(
      `maxRunningMs must be at least lease.maxHoldMs, got maxRunningMs ${maxRunningMs} and lease.maxHoldMs ${maxHoldMs}`,
    );
  }
  const { maxGapMs = Math.max(2 * finalizeGraceMs, MIN_GAP_MS) } = rest;
  if (onDead !== 'requeue' && onDead !== 'fail' && typeof onDead !== 'function') {
    throw new TypeError(`onDead must be "requeue", "fail" or a function, got ${inspectValue(onDead)}`);
  }
  return Object.freeze({
    limits: Object.freeze({ deadTicks, finalizeGraceMs, maxRunningMs }),
    maxGapMs,
    onDead: typeof onDead === 'function' ? (onDead as ReapPlan['onDead']) : () => onDead,
    probe,
    probeTimeoutMs,
  });
}
