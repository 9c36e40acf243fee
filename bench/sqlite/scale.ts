import { acquireLeases, snapshot } from 'transition-ownership';
import { requests } from '../batches.js';
import { ownershipOn } from '../ownership.js';
import { type Contender, processor, race } from '../race.js';
import { atMost, type Line } from '../report.js';
import type { Workshop } from './database.js';

const LEASES = 50;
const FEW = 1_000;
const MANY = 1_000_000;

/** What reading costs when most tasks are finished: in proportion to the leases, and not to the tasks. */
export async function scale(shop: Workshop): Promise<readonly Line[]> {
  const laps = await race([await looking(shop, FEW), await looking(shop, MANY)], {
    rounds: 31,
    times: 50,
    clock: processor,
  });
  return laps.map(({ name, us, ratio }, at) => ({
    what: name,
    us,
    figure: at === 0 ? '' : `${ratio.toFixed(2)} × that of ${FEW.toLocaleString('en')}`,
    ...(at === 1 && atMost(ratio, 2)),
  }));
}

async function looking(shop: Workshop, tasks: number): Promise<Contender> {
  const db = await shop.kept(shop.file(), 'normal', { tasks });
  const ownership = await ownershipOn(db);
  (await acquireLeases(ownership, requests(LEASES)))._unsafeUnwrap();
  return {
    name: `snapshot: ${LEASES} leases, ${tasks.toLocaleString('en')} tasks`,
    run: async (times) => {
      for (let time = 0; time < times; time += 1) {
        const { leases } = (await snapshot(ownership))._unsafeUnwrap();
        if (leases.length !== LEASES) throw new Error(`a snapshot lists ${leases.length} of ${LEASES} leases`);
      }
    },
  };
}
