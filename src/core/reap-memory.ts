/** How long the process of one run has been seen dead. */
export interface Suspicion {
  readonly deadTicks: number;
  readonly deadForMs: number;
}

interface Remembered {
  readonly sinceMs: number;
  readonly ticks: number;
}

/** One tick in the making: what it sees counts only once it is {@link ReapMemory.keep kept}. */
export interface Tick {
  readonly nowMs: number;
  readonly dead: Map<string, Remembered>;
  readonly seen: Map<string, number>;
  readonly failed: Map<string, number>;
}

/**
 * What a reaper remembers from tick to tick: of jobs that are running and no others, so it stays as small.
 *
 * Evidence is what was seen at ticks. Time in which the reaper itself stood still is none: its process was
 * blocked or its machine suspended, and so perhaps was whatever finalizes a job. So a gap between two ticks
 * that is longer than `maxGapMs`, and twice as long as the gap before it, starts every count anew. The second
 * condition lets a reaper that is called rarely, but evenly, come to its end.
 */
export class ReapMemory {
  readonly #maxGapMs: number;
  #dead: ReadonlyMap<string, Remembered> = new Map();
  #seen: ReadonlyMap<string, number> = new Map();
  #failed: ReadonlyMap<string, number> = new Map();
  #lastGapMs = 0;

  constructor(maxGapMs: number) {
    this.#maxGapMs = maxGapMs;
  }

  /** Begins a tick; `gapMs` is the time since the one before it, 0 for the first. */
  begin(nowMs: number, gapMs: number): Tick {
    if (gapMs > this.#maxGapMs && gapMs > 2 * this.#lastGapMs) this.#dead = new Map();
    this.#lastGapMs = gapMs;
    return { nowMs, dead: new Map(), seen: new Map(), failed: new Map() };
  }

  /** The process of a run is dead at this tick. */
  suspect(tick: Tick, run: string): Suspicion {
    const before = this.#dead.get(run);
    const now = { sinceMs: before?.sinceMs ?? tick.nowMs, ticks: (before?.ticks ?? 0) + 1 };
    tick.dead.set(run, now);
    return { deadTicks: now.ticks, deadForMs: tick.nowMs - now.sinceMs };
  }

  /** A run whose start cannot be read runs at this tick; returns how long it has been seen. */
  seenForMs(tick: Tick, run: string): number {
    const sinceMs = this.#seen.get(run) ?? tick.nowMs;
    tick.seen.set(run, sinceMs);
    return tick.nowMs - sinceMs;
  }

  /**
   * A job meets trouble at this tick; true if that is to be reported: at the first tick in a row that it does, and then at
   * the second, the fourth, the eighth, and so on. What goes on for days is known by then.
   */
  isToBeReported(tick: Tick, job: string): boolean {
    const times = (this.#failed.get(job) ?? 0) + 1;
    tick.failed.set(job, times);
    return Number.isInteger(Math.log2(times));
  }

  /** A tick came to its end; what it did not see again is forgotten. */
  keep({ dead, seen, failed }: Tick): void {
    this.#dead = dead;
    this.#seen = seen;
    this.#failed = failed;
  }
}
