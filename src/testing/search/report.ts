import { amount, boolean, oneOf, optional, type RulesOf, requestOf } from '../../core/request.js';
import type { Failure } from '../failure/failure.js';
import type { FaultKind } from '../world/faults.js';

/** How far an exploration goes. */
export interface Bounds {
  /**
   * How often a schedule may switch away from a process that could go on. Default: as often as it likes.
   *
   * Sleep sets are then left out, unless `reduce` asks for them: the two together are a search aid that proves nothing.
   */
  readonly preemptions?: number;
  /** Stops after this many schedules. Default: none. */
  readonly maxSchedules?: number;
  /** Stops after this much real time, in milliseconds. Default: none. */
  readonly maxMs?: number;
  /** A schedule of more steps fails as a livelock. Default: 400. */
  readonly maxSteps?: number;
  /** How equivalent schedules are left out. Default: `both`, or `cache` with a bound on preemptions. */
  readonly reduce?: 'none' | 'cache' | 'sleep' | 'both';
  /** Whether a failure is shrunk to few steps. Default: true. */
  readonly shrink?: boolean;
  /** Runs every n-th schedule twice and compares. 0: none. Default: the first ones, then ever fewer. */
  readonly rerunEvery?: number;
}

/** What bounds may say. */
export const boundsRules = {
  preemptions: optional(amount),
  maxSchedules: optional(amount),
  maxMs: optional(amount),
  maxSteps: optional(amount),
  reduce: optional(oneOf('none', 'cache', 'sleep', 'both')),
  shrink: optional(boolean),
  rerunEvery: optional(amount),
} satisfies RulesOf<Bounds>;

export const checkBounds = requestOf(boundsRules, 'bounds');
const checkHolding = requestOf({ complete: optional(boolean, true) }, 'options');

/** What an exploration has found. */
export interface Report {
  /** True only if every schedule within the bounds was run, or shown equal to one that was, and all was well. */
  readonly complete: boolean;
  /** Schedules that were run, those that were left early because the rest is known included. */
  readonly schedules: number;
  /**
   * Schedules that a bound on timers or steps cut off before their end, where no rule could look. With one of them nothing
   * is complete.
   */
  readonly cut: number;
  /** Steps over all schedules. */
  readonly steps: number;
  /** Different states that were met; 0 without a state cache. */
  readonly states: number;
  /** Real time, in milliseconds. */
  readonly ms: number;
  /** How often each kind of fault was met. */
  readonly faultsMet: Readonly<Record<FaultKind, number>>;
  /** What was covered, as a line to print: `2,306 schedules, every one`. */
  readonly covered: string;
  /** What else must be known to read the report: schedules that were cut off, time that was idle, rules that said nothing. */
  readonly warnings: readonly string[];
  /** The first thing that was wrong, shrunk to few steps. */
  readonly failure?: Failure;
}

/**
 * Throws unless a report is clean and complete: what a test asserts.
 *
 * @param report - From `explore`, `exploreDeepening` or `fuzz`.
 * @param options - `complete: false` accepts a search that was stopped by its bounds, such as any `fuzz`.
 */
export function assertHolds(report: Report, options: { readonly complete?: boolean } = {}): void {
  const { complete } = checkHolding(options);
  if (report.failure !== undefined) throw report.failure;
  if (complete && !report.complete) {
    throw new Error(
      [
        `not exhausted: ${report.schedules} schedules in ${Math.round(report.ms)} ms did not cover the scenario. ` +
          'Raise maxSchedules or maxMs, lower the faults, or accept it with { complete: false }.',
        ...report.warnings,
      ].join('\n'),
    );
  }
}
