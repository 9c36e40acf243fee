import { batches } from '../batches.js';
import { ownershipOn } from '../ownership.js';
import { processor, wall } from '../race.js';
import { type Line, printTable } from '../report.js';
import { commits } from './commits.js';
import { crowds } from './crowds.js';
import { Workshop } from './database.js';
import { oneByOne } from './one-by-one.js';
import { renewal } from './renewal.js';
import { sanitize } from './sanitize.js';
import { scale } from './scale.js';

/** Prints the table of SQLite. */
export async function sqliteTable(): Promise<void> {
  await using shop = new Workshop();
  const lines: Line[] = [];
  for (const part of [oneByOne, commits, batched, crowds, renewal, scale, sanitize]) lines.push(...(await part(shop)));
  printTable('SQLite, better-sqlite3', lines);
}

async function batched(shop: Workshop): Promise<readonly Line[]> {
  const quick = await ownershipOn(await shop.kept(shop.file(), 'normal'));
  const durable = await ownershipOn(await shop.kept(shop.file(), 'full'));
  return [
    ...(await batches('file, WAL, NORMAL', quick, { rounds: 60, clock: processor })),
    ...(await batches('file, WAL, FULL', durable, { rounds: 3, clock: wall, bar: 8 })),
  ];
}
