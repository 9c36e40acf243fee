import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Awaitable } from '../store/store.js';

/** What `powerLoss` found. */
export interface PowerLossReport {
  /** How many lengths of the write-ahead log were tried. */
  readonly cuts: number;
  /** The lengths, in bytes, at which the check threw. */
  readonly failures: readonly { readonly length: number; readonly error: Error }[];
}

/**
 * Shows what a SQLite file may look like after a power loss: the write-ahead log is cut at every 512 bytes, and each
 * such file is checked; so is the whole.
 *
 * With `synchronous` below FULL a commit that was answered can be gone afterwards; no page is ever half written.
 *
 * @param path - A database in WAL mode whose log was not checkpointed away. It is read, not changed.
 * @param check - Opens the given copy, looks, closes it; throws if it is not as it must be.
 */
export async function powerLoss(path: string, check: (copy: string) => Awaitable<unknown>): Promise<PowerLossReport> {
  const logPath = `${path}-wal`;
  if (!existsSync(logPath)) throw new Error(`${path} has no write-ahead log: nothing is there to be lost`);
  const log = readFileSync(logPath);
  const folder = mkdtempSync(join(tmpdir(), 'power-loss-'));
  const copy = join(folder, 'copy.sqlite');
  const failures: { length: number; error: Error }[] = [];
  const lengths = [...Array.from({ length: Math.ceil(log.length / 512) }, (_, at) => at * 512), log.length];
  try {
    for (const length of lengths) {
      rmSync(`${copy}-shm`, { force: true });
      copyFileSync(path, copy);
      writeFileSync(`${copy}-wal`, log.subarray(0, length));
      try {
        await check(copy);
      } catch (error) {
        failures.push({ length, error: error instanceof Error ? error : new Error(String(error)) });
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { cuts: lengths.length, failures };
}
