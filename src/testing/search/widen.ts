import type { TestStore } from '../store/store.js';
import type { Scenario } from '../world/scenario.js';
import { coverage } from './coverage.js';
import type { Bounds, Report } from './report.js';
import { carry, search } from './search.js';

/** A round before the whole: few preemptions, and not many schedules. */
interface Round {
  readonly preemptions: number;
  readonly reduce: NonNullable<Bounds['reduce']>;
  readonly maxSchedules: number;
}

/** Most mistakes need one switch at the right place, or two: these find them soon, and prove nothing. */
const finding: readonly Round[] = [
  { preemptions: 0, reduce: 'both', maxSchedules: 100 },
  { preemptions: 1, reduce: 'both', maxSchedules: 500 },
  { preemptions: 2, reduce: 'both', maxSchedules: 1_000 },
];

/** And these prove what can be said of a search that is stopped before it is through. */
const proving: readonly Round[] = [0, 1, 2].map((preemptions) => ({
  preemptions,
  reduce: 'cache',
  maxSchedules: 1_000,
}));

/** The part of all bounds that one such round may use up. */
const share = 1 / 7;

/**
 * Searches with no preemption, with one and with two, each for a while, and then without such a bound: a simple mistake
 * is found long before the whole is through. Where a round leaves nothing out it was the whole.
 */
export async function widen<DB>(store: TestStore<DB>, scenario: Scenario<DB>, bounds: Bounds): Promise<Report> {
  const { maxMs = Number.POSITIVE_INFINITY, maxSchedules = Number.POSITIVE_INFINITY } = bounds;
  const spent = { schedules: 0, cut: 0, steps: 0, ms: 0 };
  const carried = carry();
  let switches: number | undefined;
  const run = async (own: Bounds) => {
    const searched = await search(store, scenario, { ...bounds, ...own }, carried);
    for (const sum of ['schedules', 'cut', 'steps', 'ms'] as const) spent[sum] += searched.report[sum];
    return searched;
  };
  const summed = (report: Report): Report => {
    const { complete } = report;
    return {
      ...report,
      ...spent,
      faultsMet: carried.faultsMet,
      covered: coverage({ complete, ...spent, switches: complete ? undefined : switches }),
    };
  };
  const bounded = Number.isFinite(maxMs) || Number.isFinite(maxSchedules);
  for (const round of bounded ? [...finding, ...proving] : finding) {
    const proves = round.reduce === 'cache';
    const most = Math.min(round.maxSchedules, Math.floor(maxSchedules * share));
    if (most === 0) break; // so few schedules are spent without rounds
    const { report, leftOut, exhausted } = await run({
      ...round,
      maxSchedules: most,
      maxMs: maxMs * share,
    });
    const failed = report.failure !== undefined && report.failure.token !== '';
    if (failed || (exhausted && !leftOut)) return summed(report);
    if (proves && !exhausted) break;
    if (proves) switches = round.preemptions;
  }
  const left = { maxMs: Math.max(0, maxMs - spent.ms), maxSchedules: Math.max(1, maxSchedules - spent.schedules) };
  return summed((await run(left)).report);
}
