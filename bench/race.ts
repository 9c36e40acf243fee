/** One thing that is timed. */
export interface Contender {
  /** What it does, in a few words. */
  readonly name: string;
  /** Lays out the work, which is not timed. */
  readonly prepare?: (times: number) => Promise<unknown>;
  /** Does it `times` times over, one after the other. */
  readonly run: (times: number) => Promise<void>;
}

/** How long a race is, and by which clock. */
export interface Course {
  /** Rounds; every contender runs once in each, so that all of them see the same weather. */
  readonly rounds: number;
  /** How often each contender does its work in a round. */
  readonly times: number;
  /** Work that waits for a disk or a server is timed by the wall; work that never waits, by the processor. */
  readonly clock: Clock;
}

/** Reads a clock, in µs. */
export type Clock = () => number;

/** The clock on the wall. */
export const wall: Clock = () => performance.now() * 1_000;

/** The time that this process was given: what a busy neighbour takes is not in it. */
export const processor: Clock = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** What a contender took. */
export interface Lap {
  readonly name: string;
  /** Median over the rounds, in µs for one time. */
  readonly us: number;
  /** Median over the rounds of its time against the first contender's in the same round. */
  readonly ratio: number;
}

/**
 * Times contenders against the first of them. Rounds are short and interleaved, and each begins with another
 * contender: on a shared machine the seconds differ more than the contenders do.
 */
export async function race(
  contenders: readonly Contender[],
  { rounds, times, clock }: Course,
): Promise<readonly Lap[]> {
  const took = contenders.map(() => [] as number[]);
  const warmUp = Math.ceil(rounds / 3) * times; // A compiler that still learns would be timed too.
  for (const { prepare, run } of contenders) {
    await prepare?.(warmUp);
    await run(warmUp);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (let place = 0; place < contenders.length; place += 1) {
      const at = (round + place) % contenders.length;
      await contenders[at]?.prepare?.(times);
      const startUs = clock();
      await contenders[at]?.run(times);
      took[at]?.push((clock() - startUs) / times);
    }
  }
  const floor = took[0] ?? [];
  return contenders.map(({ name }, at) => {
    const own = took[at] ?? [];
    return { name, us: median(own), ratio: median(own.map((us, round) => us / (floor[round] ?? us))) };
  });
}

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
