import { acquireLease, acquireLeases, releaseLease, releaseLeases } from 'transition-ownership';
import type { BenchOwnership } from './ownership.js';
import { type Clock, race } from './race.js';
import { atLeast, type Line } from './report.js';

const BATCH = 200;

/** Requests for so many leases. */
export const requests = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ taskId: at + 1, actor: 'monitor' }));

/** Many leases in one call, against as many calls. */
export async function batches(
  where: string,
  ownership: BenchOwnership,
  course: { readonly rounds: number; readonly clock: Clock; readonly bar?: number },
): Promise<readonly Line[]> {
  const asked = requests(BATCH);
  const [alone, together] = await race(
    [
      { name: 'one by one', run: (times) => repeat(times, () => takeOneByOne(ownership, asked)) },
      { name: 'together', run: (times) => repeat(times, () => takeTogether(ownership, asked)) },
    ],
    { ...course, times: 1 },
  );
  if (!alone || !together) throw new Error('a race has as many laps as contenders');
  const rate = 1 / together.ratio;
  return [
    { what: `${where}: acquireLease + releaseLease`, us: alone.us / BATCH, figure: '' },
    {
      what: `  acquireLeases + releaseLeases of ${BATCH}`,
      us: together.us / BATCH,
      figure: `${rate.toFixed(1)} × the rate`,
      ...(course.bar !== undefined && atLeast(rate, course.bar)),
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
