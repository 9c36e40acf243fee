import { amount, requestOf } from '../../core/request.js';
import type { AnyTables, TestStore } from '../store/store.js';
import type { Scenario } from '../world/scenario.js';
import { explore } from './explore.js';
import { type Bounds, boundsRules, type Report } from './report.js';

const { preemptions: _, ...rules } = boundsRules;
const checkBounds = requestOf({ ...rules, upTo: amount }, 'bounds');

/** Bounds whose number of preemptions is raised step by step. */
export interface DeepeningBounds extends Omit<Bounds, 'preemptions'> {
  /** The most preemptions that are tried. Most mistakes need one or two. */
  readonly upTo: number;
}

/**
 * Explores with no preemption, then one, then two, up to `upTo`: the first failure is then a simple one.
 *
 * The report is that of the last round; `schedules`, `steps` and `ms` are sums. It is complete if the last round was:
 * then every schedule with at most that many preemptions was run.
 */
export async function exploreDeepening<DB = AnyTables>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  bounds: DeepeningBounds,
): Promise<Report> {
  checkBounds(bounds);
  const { upTo, ...rest } = bounds;
  const spent = { schedules: 0, steps: 0, ms: 0 };
  for (let preemptions = 0; ; preemptions++) {
    const report = await explore(store, scenario, { ...rest, preemptions });
    spent.schedules += report.schedules;
    spent.steps += report.steps;
    spent.ms += report.ms;
    // A fault may need a preemption to be met at all, so only the last round can be vacuous.
    const vacuous = report.failure?.token === '';
    if (preemptions === upTo || (report.failure !== undefined && !vacuous)) return { ...report, ...spent };
  }
}
