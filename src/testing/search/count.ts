import { type FaultKind, faultKinds } from '../world/faults.js';
import type { Simulation } from '../world/simulation.js';
import type { Report } from './report.js';

/** Adds schedules up for a report. */
export class Count {
  schedules = 0;
  readonly faultsMet: Record<FaultKind, number> = {
    crashes: 0,
    restarts: 0,
    lostReplies: 0,
    failures: 0,
    diskFull: 0,
    clockJumps: 0,
    databaseClockJumps: 0,
  };
  private steps = 0;

  /** Counts one schedule. */
  add<DB>(world: Simulation<DB>): void {
    this.schedules++;
    this.steps += world.steps;
    for (const kind of faultKinds) this.faultsMet[kind] += world.met[kind] ?? 0;
  }

  /** The sums so far. */
  totals(): Pick<Report, 'schedules' | 'steps' | 'faultsMet'> {
    return { schedules: this.schedules, steps: this.steps, faultsMet: { ...this.faultsMet } };
  }
}
