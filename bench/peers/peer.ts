import type { Contender } from '../race.js';
import { race, wall } from '../race.js';
import { printRows, spellUs } from '../report.js';

/** Something that people use today. */
export interface Peer extends Contender {
  /** What survives what. */
  readonly durable: string;
  /** What the library does and this does not. */
  readonly lacks: string;
}

/** Loads a package of `bench/package.json`; it is there only if somebody installed it. */
export async function load<T>(name: string): Promise<T | undefined> {
  try {
    return (await import(name)) as T;
  } catch {
    console.log(`  (${name} is not installed: npm ci --prefix bench)`);
    return undefined;
  }
}

/** Prints what peers take for their own work, beside what the library takes for its own. */
export async function printPeers(title: string, peers: readonly Peer[]): Promise<void> {
  const laps = await race(peers, { rounds: 30, times: 20, clock: wall });
  printRows(
    title,
    ['what', 'time of one', 'ratio', 'durable', 'does not'],
    laps.map(({ name, us, ratio }, at) => {
      const { durable = '', lacks = '' } = peers[at] ?? {};
      return [name, spellUs(us), `${ratio.toFixed(2)} ×`, durable, lacks];
    }),
  );
}
