import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { gzipSync } from 'node:zlib';
import BetterSqlite3 from 'better-sqlite3';

/** Says on what and with what the tables were made. */
export function printMachine(): void {
  const [cpu] = cpus();
  const [load] = loadavg();
  console.log(
    [
      `${cpus().length} × ${cpu?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, load ${load?.toFixed(1)}`,
      `Node ${process.version}, kysely ${versionOf('kysely')}, better-sqlite3 ${versionOf('better-sqlite3')} (SQLite ${sqliteVersion()}), pg ${versionOf('pg')}, mysql2 ${versionOf('mysql2')}`,
      `The core is ${coreKb()} kB minified and gzipped, without kysely and neverthrow.`,
      'Read the ratios: rounds are interleaved, figures are medians, and times of another machine or hour are others.',
      'What never waits is timed by the processor, what waits for a disk or a server by the wall.',
    ].join('\n'),
  );
}

function versionOf(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  return version;
}

function sqliteVersion(): string {
  const database = new BetterSqlite3(':memory:');
  const version: unknown = database.prepare('select sqlite_version()').pluck().get();
  database.close();
  return String(version);
}

/** The core stands beside this bundle, minified by the same build. */
function coreKb(): string {
  return (gzipSync(readFileSync(new URL('core.js', import.meta.url))).length / 1_000).toFixed(1);
}
