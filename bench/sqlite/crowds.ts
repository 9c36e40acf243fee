import { acquireLease, releaseLeases } from 'transition-ownership';
import { requests } from '../batches.js';
import { type BenchOwnership, ownershipOn } from '../ownership.js';
import { median, processor } from '../race.js';
import { atMost, type Line } from '../report.js';
import type { Workshop } from './database.js';

const FEWEST = 100;
const MOST = 4_000;
const ROUNDS = 15;

/** Many single acquisitions at the same time, on one connection: what waiting for each other costs. */
export async function crowds(shop: Workshop): Promise<readonly Line[]> {
  const ownership = await ownershipOn(await shop.kept(':memory:', 'normal'));
  const took = new Map([FEWEST, 1_000, MOST].map((size) => [size, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [size, own] of took) own.push(await acquireAtOnce(ownership, size));
  }
  const few = took.get(FEWEST) ?? [];
  return [...took].map(([size, own]) => {
    const growth = median(own.map((us, round) => us / (few[round] ?? us)));
    return {
      what: `memory: ${size.toLocaleString('en')} single acquires at once`,
      us: median(own),
      figure: size === FEWEST ? '' : `${growth.toFixed(2)} × that of ${FEWEST}`,
      ...(size === MOST && atMost(growth, 2)),
    };
  });
}

/** The time of one acquire, in µs, when so many are under way; as many in all, whatever the crowd. */
async function acquireAtOnce(ownership: BenchOwnership, size: number): Promise<number> {
  const asked = requests(size);
  let us = 0;
  for (let crowd = 0; crowd < MOST / size; crowd += 1) {
    const startUs = processor();
    const leases = await Promise.all(asked.map((request) => acquireLease(ownership, request)));
    us += processor() - startUs;
    const granted = leases.map((lease) => lease._unsafeUnwrap());
    (await releaseLeases(ownership, granted))._unsafeUnwrap();
  }
  return us / MOST;
}
