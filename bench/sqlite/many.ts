import { acquireLease, acquireLeases, releaseLease, releaseLeases } from 'transition-ownership';
import { type BenchOwnership, ownershipOn } from '../ownership.js';
import { median, processor, race } from '../race.js';
import { atLeast, atMost, type Line } from '../report.js';
import type { Workshop } from './database.js';

const BATCH = 200;
const MOST = 4_000;
const CROWDS = [100, 1_000, MOST];
const ROUNDS = 15;

const requests = (count: number) => Array.from({ length: count }, (_, at) => ({ taskId: at + 1, actor: 'monitor' }));

/** Many leases at once: in one call, and in many calls at the same time. */
export async function many(shop: Workshop): Promise<readonly Line[]> {
  return [...(await inBatches(shop)), ...(await inCrowds(shop))];
}

async function inBatches(shop: Workshop): Promise<readonly Line[]> {
  const ownership = await ownershipOn(await shop.kept(shop.file(), 'normal'));
  const asked = requests(BATCH);
  const laps = await race(
    [
      { name: 'one by one', run: (times) => repeat(times, () => takeOneByOne(ownership, asked)) },
      { name: 'together', run: (times) => repeat(times, () => takeTogether(ownership, asked)) },
    ],
    { rounds: ROUNDS, times: 3, clock: processor },
  );
  const [alone, together] = laps;
  if (!alone || !together) throw new Error('a race has as many laps as contenders');
  const rate = 1 / together.ratio;
  return [
    { what: 'file, WAL, NORMAL: acquire + release', us: alone.us / BATCH, figure: '' },
    {
      what: `  acquireLeases + releaseLeases of ${BATCH}`,
      us: together.us / BATCH,
      figure: `${rate.toFixed(1)} × the rate`,
      ...atLeast(rate, 8),
    },
  ];
}

async function repeat(times: number, work: () => Promise<void>): Promise<void> {
  for (let time = 0; time < times; time += 1) await work();
}

async function takeOneByOne(ownership: BenchOwnership, asked: ReturnType<typeof requests>): Promise<void> {
  for (const request of asked) {
    const lease = (await acquireLease(ownership, request))._unsafeUnwrap();
    (await releaseLease(ownership, lease))._unsafeUnwrap();
  }
}

async function takeTogether(ownership: BenchOwnership, asked: ReturnType<typeof requests>): Promise<void> {
  const { acquired } = (await acquireLeases(ownership, asked))._unsafeUnwrap();
  (await releaseLeases(ownership, acquired))._unsafeUnwrap();
}

async function inCrowds(shop: Workshop): Promise<readonly Line[]> {
  const ownership = await ownershipOn(await shop.kept(':memory:', 'normal'));
  const took = new Map(CROWDS.map((size) => [size, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const size of CROWDS) took.get(size)?.push(await acquireAtOnce(ownership, size));
  }
  const few = took.get(100) ?? [];
  return CROWDS.map((size) => {
    const own = took.get(size) ?? [];
    const growth = median(own.map((us, round) => us / (few[round] ?? us)));
    return {
      what: `memory: ${size.toLocaleString('en')} single acquires at once`,
      us: median(own),
      figure: size === 100 ? '' : `${growth.toFixed(2)} × that of 100`,
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
