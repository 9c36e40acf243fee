import { amount, optional, requestOf } from '../../core/request.js';
import type { AnyTables, TestStore } from '../store/store.js';
import { checkScenario, type Scenario } from '../world/scenario.js';
import { type Bounds, boundsRules, type Report } from './report.js';
import { carry, search } from './search.js';

const { preemptions: _, ...rules } = boundsRules;
const checkBounds = requestOf({ ...rules, upTo: optional(amount) }, 'bounds');

/** Bounds whose number of preemptions is raised step by step. */
export interface DeepeningBounds extends Omit<Bounds, 'preemptions'> {
  /** The most preemptions that are tried. Default: as many as the scenario has room for. */
  readonly upTo?: number;
}

/**
 * Explores with no preemption, then one, then two, and so on: the first failure is then a simple one.
 *
 * Ends when nothing is left that a further preemption could reach, at `upTo`, or when a bound is spent: `maxSchedules`
 * and `maxMs` bound all rounds together. The report is that of the last round; `schedules`, `cut`, `steps` and `ms` are sums.
 * It is complete if the last round was: then every schedule with at most that many preemptions was run.
 */
export async function exploreDeepening<DB = AnyTables>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  bounds: DeepeningBounds = {},
): Promise<Report> {
  checkScenario(scenario);
  checkBounds(bounds);
  const { upTo = Number.POSITIVE_INFINITY, maxMs, maxSchedules, ...rest } = bounds;
  const carried = carry();
  const spent = { schedules: 0, cut: 0, steps: 0, ms: 0 };
  for (let preemptions = 0; ; preemptions++) {
    const { report, leftOut } = await search(
      store,
      scenario,
      {
        ...rest,
        preemptions,
        ...(maxMs === undefined ? {} : { maxMs: maxMs - spent.ms }),
        ...(maxSchedules === undefined ? {} : { maxSchedules: maxSchedules - spent.schedules }),
      },
      carried,
    );
    for (const sum of ['schedules', 'cut', 'steps', 'ms'] as const) spent[sum] += report[sum];
    // A fault may need a preemption to be met at all, so only the last round can be vacuous.
    const failed = report.failure !== undefined && report.failure.token !== '';
    const isSpent = spent.ms >= (maxMs ?? Infinity) || spent.schedules >= (maxSchedules ?? Infinity);
    if (preemptions >= upTo || !leftOut || failed || isSpent)
      return { ...report, ...spent, faultsMet: carried.faultsMet };
  }
}
