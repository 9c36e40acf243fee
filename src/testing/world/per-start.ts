import type { AnyTables } from '../store/store.js';
import type { ProcessMain } from './process.js';

/**
 * A process that is made anew at each start: what it keeps in memory belongs to that one start, as it does in reality.
 *
 * A main function that is written once and shared has one memory for all processes, and one that outlives a kill: a flag
 * in it looks like a lock.
 *
 * @param make - Called at each start, before the process runs. What it makes holds the memory of that start.
 * @example
 * ```ts
 * import { perStart, type Process } from 'transition-ownership/testing';
 *
 * const worker = () => {
 *   let busy = false; // gone with the process
 *   return async (process: Process): Promise<void> => {
 *     if (busy) return;
 *     busy = true;
 *     await process.work();
 *     busy = false;
 *   };
 * };
 * const processes = { A: perStart(worker), B: perStart(worker) };
 * console.log(Object.keys(processes).length);
 * ```
 */
export function perStart<DB = AnyTables>(make: () => ProcessMain<DB>): ProcessMain<DB> {
  return (process) => make()(process);
}
