import type { Kysely } from 'kysely';
import { ownershipOn, type Tables, transitions } from '../ownership.js';
import { type Course, processor, race, wall } from '../race.js';
import { type Line, lapLine } from '../report.js';
import { Transcript } from '../statements.js';
import type { Workshop } from './database.js';
import { floor, WRITTEN } from './floor.js';

/** Work that waits for nothing but its own processor. */
const BUSY: Course = { rounds: 100, times: 100, clock: processor };
/** Work that waits for the disk. */
const WAITING: Course = { rounds: 30, times: 20, clock: wall };

/** One transition after the other, against the same statements through better-sqlite3 alone. */
export async function oneByOne(shop: Workshop): Promise<readonly Line[]> {
  const file = await race(
    [
      floor('file, WAL, NORMAL: floor, 3 statements', await shop.bare(shop.file(), 'normal')),
      await library('  openSqlite', await shop.kept(shop.file(), 'normal')),
      await library('  SqliteDialect, which keeps no statement', await shop.plain(shop.file(), 'normal')),
    ],
    BUSY,
  );
  const memory = await race(
    [
      floor('memory: floor, 3 statements', await shop.bare(':memory:', 'normal')),
      await library('  openSqlite', await shop.kept(':memory:', 'normal')),
    ],
    { ...BUSY, times: 500 },
  );
  const durable = await race(
    [
      floor('file, WAL, FULL: floor, 3 statements', await shop.bare(shop.file(), 'full')),
      await library('  openSqlite', await shop.kept(shop.file(), 'full')),
      await library('  openSqlite, the write releases', await shop.kept(shop.file(), 'full'), { release: true }),
    ],
    WAITING,
  );
  const transcript = new Transcript();
  const watched = await ownershipOn(await shop.kept(':memory:', 'normal', transcript));
  return [
    ...file.map((lap, at) => lapLine(lap, [undefined, 1.5, 3.5][at])),
    ...memory.map((lap, at) => lapLine(lap, [undefined, 4][at])),
    ...durable.map((lap) => lapLine(lap)),
    ...(await transcript.compare(watched, WRITTEN)),
  ];
}

async function library(name: string, db: Kysely<Tables>, options: { readonly release?: boolean } = {}) {
  return transitions(name, await ownershipOn(db), options);
}
