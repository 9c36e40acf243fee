import { ownershipOn, transitions } from '../ownership.js';
import { processor, race, wall } from '../race.js';
import { type Line, lapLine } from '../report.js';
import type { Workshop } from './database.js';
import { floor } from './floor.js';

const COURSE = { rounds: 100, times: 100, clock: processor };

/** One transition after the other, against the same statements through better-sqlite3 alone. */
export async function oneByOne(shop: Workshop): Promise<readonly Line[]> {
  return [...(await inFile(shop)), ...(await inMemory(shop)), ...(await durable(shop))];
}

async function inFile(shop: Workshop): Promise<readonly Line[]> {
  const laps = await race(
    [
      floor('file, WAL, NORMAL: floor, 3 statements', shop.raw(shop.file(), 'normal')),
      transitions('  openSqlite', await ownershipOn(await shop.kept(shop.file(), 'normal'))),
      transitions(
        '  SqliteDialect, which keeps no statement',
        await ownershipOn(await shop.plain(shop.file(), 'normal')),
      ),
    ],
    COURSE,
  );
  const bars = [undefined, 1.5, 3.5];
  return laps.map((lap, at) => lapLine(lap, bars[at]));
}

async function inMemory(shop: Workshop): Promise<readonly Line[]> {
  const laps = await race(
    [
      floor('memory: floor, 3 statements', shop.raw(':memory:', 'normal')),
      transitions('  openSqlite', await ownershipOn(await shop.kept(':memory:', 'normal'))),
    ],
    { ...COURSE, times: 500 },
  );
  return laps.map((lap, at) => lapLine(lap, at === 1 ? 4 : undefined));
}

async function durable(shop: Workshop): Promise<readonly Line[]> {
  const laps = await race(
    [
      floor('file, WAL, FULL: floor, 3 statements', shop.raw(shop.file(), 'full')),
      transitions('  openSqlite', await ownershipOn(await shop.kept(shop.file(), 'full'))),
      transitions('  openSqlite, the write releases', await ownershipOn(await shop.kept(shop.file(), 'full')), {
        release: true,
      }),
    ],
    { rounds: 30, times: 20, clock: wall },
  );
  return laps.map((lap) => lapLine(lap));
}
