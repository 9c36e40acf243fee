import { type Failure, vacuity } from '../failure/failure.js';
import type { TestStore } from '../store/store.js';
import { type FaultKind, faultKinds } from '../world/faults.js';
import { recoverAndCheck } from '../world/recovery.js';
import type { Spoken } from '../world/run-options.js';
import type { Scenario } from '../world/scenario.js';
import { TooLong } from '../world/trouble.js';
import { Count } from './count.js';
import { coverage } from './coverage.js';
import { Exploration } from './exploration.js';
import { failureOf } from './failing.js';
import type { Bounds, Report } from './report.js';
import { rerun } from './rerun.js';
import { missed, silent } from './silent.js';

/** What a search came to, and whether the bound on preemptions has left anything out. */
export interface Searched {
  readonly report: Report;
  readonly leftOut: boolean;
  /** It ran to its end. */
  readonly exhausted: boolean;
}

/** What the rounds of one search tell each other. */
export interface Carried {
  readonly spoken: Spoken;
  readonly faultsMet: Record<FaultKind, number>;
}

/** Nothing yet. */
export const carry = (): Carried => ({ spoken: new Map(), faultsMet: new Count().faultsMet });

/** Searches the schedules of a scenario depth first, within the bounds. */
export async function search<DB>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  bounds: Bounds,
  carried: Carried = carry(),
): Promise<Searched> {
  await store.open();
  const begunMs = performance.now();
  let exploration = new Exploration(store, scenario, bounds, carried);
  let count = new Count();
  let exhausted = false;
  let failure: Failure | undefined;
  while (!exhausted && failure === undefined && !isSpent(bounds, count.schedules, begunMs)) {
    const world = exploration.world();
    let cut = false;
    try {
      const ending = await exploration.run(world);
      if (isRerun(bounds, count.schedules)) await rerun(store, scenario, world);
      if (ending === 'end') await recoverAndCheck(world);
      cut = ending === 'cut';
    } catch (error) {
      failure = await failureOf(store, scenario, { world, error, shrinks: bounds.shrink ?? true });
      cut = error instanceof TooLong;
    }
    await world.leave();
    if (failure === undefined && exploration.isMisled(world.state)) {
      exploration = exploration.anew(world.state);
      count = new Count();
      continue;
    }
    count.add(world, cut);
    exhausted = !exploration.turn();
  }
  for (const kind of faultKinds) carried.faultsMet[kind] += count.faultsMet[kind];
  failure ??= vacuity(scenario, carried.faultsMet) ?? missed(carried.spoken);
  const proves = bounds.preemptions === undefined || !exploration.sleeps || !exploration.bounded;
  const complete = exhausted && failure === undefined && proves && count.isWhole;
  const { schedules, ...totals } = count.totals();
  const ms = performance.now() - begunMs;
  const report: Report = {
    complete,
    schedules,
    ...totals,
    states: exploration.states.size,
    ms,
    covered: coverage({ complete, schedules, ms, switches: exploration.bounded ? bounds.preemptions : undefined }),
    warnings: [...count.warnings(), ...silent(carried.spoken)],
    ...(failure === undefined ? {} : { failure }),
  };
  return { report, leftOut: exploration.bounded, exhausted };
}

function isSpent(bounds: Bounds, schedules: number, begunMs: number): boolean {
  return (
    schedules >= (bounds.maxSchedules ?? Number.POSITIVE_INFINITY) ||
    performance.now() - begunMs > (bounds.maxMs ?? Number.POSITIVE_INFINITY)
  );
}

/** The first schedules show most mistakes; later ones are looked at ever less often: 1, 2, 4, 8, … */
function isRerun({ rerunEvery }: Bounds, schedules: number): boolean {
  if (rerunEvery === undefined) return ((schedules + 1) & schedules) === 0;
  return rerunEvery > 0 && schedules % rerunEvery === 0;
}
