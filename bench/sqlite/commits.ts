import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { ownershipOn, transitions } from '../ownership.js';
import { atMost, type Line } from '../report.js';
import { TASKS } from '../tour.js';
import type { Workshop } from './database.js';

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Counts the durable commits of a transition whose write releases, in the log that the database wrote. */
export async function commits(shop: Workshop): Promise<readonly Line[]> {
  const file = shop.file();
  const db = await shop.kept(file, 'full');
  const ownership = await ownershipOn(db);
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  await sql`pragma wal_autocheckpoint = 0`.execute(db);
  await transitions('', ownership, { release: true }).run(TASKS);
  const each = countCommits(readFileSync(`${file}-wal`)) / TASKS;
  return [{ what: 'durable commits, the write releases', figure: `${each} a transition`, ...atMost(each, 2) }];
}

/** A frame of the log that ends a commit carries the size of the database after it; all others carry 0. */
function countCommits(log: Buffer): number {
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(8);
  let found = 0;
  for (let at = WAL_HEADER_BYTES; at < log.length; at += frameBytes) if (log.readUInt32BE(at + 4) > 0) found += 1;
  return found;
}
