import { sanitizeImpossibleQueued } from 'transition-ownership';
import { processor } from '../race.js';
import { atMost, type Line } from '../report.js';
import type { Workshop } from './database.js';
import { wholeOwnership } from './history.js';

const IMPOSSIBLE = 10_000;
const FEW = 20_000;
const MANY = 1_000_000;

/** Repairing a queue costs in proportion to what is queued, and not to what was ever run. */
export async function sanitize(shop: Workshop): Promise<readonly Line[]> {
  const few = await repair(shop, FEW);
  const many = await repair(shop, MANY);
  const ratio = many.us / few.us;
  const spell = (jobs: number): string =>
    `sanitize ${IMPOSSIBLE.toLocaleString('en')} impossible of ${jobs.toLocaleString('en')} jobs`;
  return [
    { what: spell(FEW), us: few.us, figure: '' },
    {
      what: spell(MANY),
      us: many.us,
      figure: `${ratio.toFixed(2)} × that of ${FEW.toLocaleString('en')}`,
      ...atMost(ratio, 2),
    },
    {
      what: '  its longest statement',
      us: many.longestUs,
      figure: `${(many.longestUs / 1_000).toFixed(1)} ms`,
      ...atMost(many.longestUs / 1_000, 50),
    },
  ];
}

/** The time of one repair and of the longest statement, by the processor. */
async function repair(shop: Workshop, jobs: number): Promise<{ readonly us: number; readonly longestUs: number }> {
  let [lastUs, longestUs] = [0, 0];
  const onQuery = (): void => {
    // What passed since the last statement ended is no less than what this one took.
    longestUs = Math.max(longestUs, processor() - lastUs);
    lastUs = processor();
  };
  const db = await shop.kept(shop.file(), 'normal', { onQuery });
  const ownership = await wholeOwnership(db, { finished: jobs, impossible: IMPOSSIBLE });
  const startUs = processor();
  [lastUs, longestUs] = [startUs, 0];
  const { sanitized } = (await sanitizeImpossibleQueued(ownership))._unsafeUnwrap();
  const us = (processor() - startUs) / IMPOSSIBLE;
  if (sanitized.length !== IMPOSSIBLE) throw new Error(`${sanitized.length} of ${IMPOSSIBLE} jobs were sanitized`);
  return { us, longestUs };
}
