import { acquireLeases, recoverOnStartup, snapshot } from 'transition-ownership';
import { requests } from '../batches.js';
import { type Contender, processor, race } from '../race.js';
import { atMost, type Line } from '../report.js';
import type { Workshop } from './database.js';
import { type WholeOwnership, wholeOwnership } from './history.js';

const LEASES = 50;
const FEW = 1_000;
const MANY = 1_000_000;

/** What looking costs when nearly all is finished: in proportion to the leases, and not to the tasks. */
export async function scale(shop: Workshop): Promise<readonly Line[]> {
  const few = await held(shop, FEW);
  const many = await held(shop, MANY);
  const lines: Line[] = [];
  for (const look of [looking, recovering]) {
    const laps = await race([look(few, FEW), look(many, MANY)], { rounds: 31, times: 20, clock: processor });
    for (const [at, { name, us, ratio }] of laps.entries()) {
      const compared = { figure: `${ratio.toFixed(2)} × that of ${FEW.toLocaleString('en')}`, ...atMost(ratio, 2) };
      lines.push({ what: name, us, ...(at === 0 ? { figure: '' } : compared) });
    }
  }
  return lines;
}

async function held(shop: Workshop, finished: number): Promise<WholeOwnership> {
  const db = await shop.kept(shop.file(), 'normal');
  const ownership = await wholeOwnership(db, { finished, impossible: 0 });
  (await acquireLeases(ownership, requests(LEASES)))._unsafeUnwrap();
  return ownership;
}

function looking(ownership: WholeOwnership, finished: number): Contender {
  return {
    name: `snapshot: ${LEASES} leases, ${finished.toLocaleString('en')} finished`,
    run: async (times) => {
      for (let time = 0; time < times; time += 1) {
        const { leases } = (await snapshot(ownership))._unsafeUnwrap();
        if (leases.length !== LEASES) throw new Error(`a snapshot lists ${leases.length} of ${LEASES} leases`);
      }
    },
  };
}

function recovering(ownership: WholeOwnership, finished: number): Contender {
  return {
    name: `recovery: ${LEASES} leases, ${finished.toLocaleString('en')} finished`,
    run: async (times) => {
      for (let time = 0; time < times; time += 1) {
        const { complete } = (await recoverOnStartup(ownership, { jobs: 'dead-only' }))._unsafeUnwrap();
        if (!complete) throw new Error('a recovery with nothing to do is complete');
      }
    },
  };
}
