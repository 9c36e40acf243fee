import { type FaultKind, faultKinds } from '../world/faults.js';
import type { Simulation } from '../world/simulation.js';
import type { Report } from './report.js';

/** Adds schedules up for a report. */
export class Count {
  schedules = 0;
  cut = 0;
  timeWasIdle = false;
  readonly faultsMet: Record<FaultKind, number> = {
    crashes: 0,
    restarts: 0,
    lostReplies: 0,
    failures: 0,
    diskFull: 0,
    clockJumps: 0,
    databaseClockJumps: 0,
    timePasses: 0,
  };
  private steps = 0;

  /** Counts one schedule. */
  add<DB>({ state }: Simulation<DB>, cut: boolean): void {
    this.schedules++;
    this.steps += state.steps;
    if (cut) this.cut++;
    this.timeWasIdle ||= state.timeWasIdle;
    for (const kind of faultKinds) this.faultsMet[kind] += state.met[kind] ?? 0;
  }

  /** Every schedule came to its end, and everybody could wake. */
  get isWhole(): boolean {
    return this.cut === 0 && !this.timeWasIdle;
  }

  /** What a reader of the report must know besides. */
  warnings(): string[] {
    return [
      ...(this.cut === 0
        ? []
        : [`${this.cut} schedules were cut off by a bound on timers or steps: no rule has seen their end`]),
      ...(this.timeWasIdle
        ? ['time was idle: with timePasses: 0 nobody who sleeps ever woke while others could go on']
        : []),
    ];
  }

  /** The sums so far. */
  totals(): Pick<Report, 'schedules' | 'cut' | 'steps' | 'faultsMet'> {
    return { schedules: this.schedules, cut: this.cut, steps: this.steps, faultsMet: { ...this.faultsMet } };
  }
}
