import { type Line, printTable } from '../report.js';
import { commits } from './commits.js';
import { Workshop } from './database.js';
import { many } from './many.js';
import { oneByOne } from './one-by-one.js';
import { renewal } from './renewal.js';
import { scale } from './scale.js';

/** Prints the table of SQLite. */
export async function sqliteTable(): Promise<void> {
  await using shop = new Workshop();
  const lines: Line[] = [];
  for (const part of [oneByOne, commits, many, renewal, scale]) lines.push(...(await part(shop)));
  printTable('SQLite, better-sqlite3', lines);
}
