import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProcessMain } from './process.js';

/** A process as a scenario gives it: what it runs, or the file whose default export that is. */
export type ProcessSource<DB> = ProcessMain<DB> | string | URL;

let loads = 0;

/** What one start of a process runs: a file is loaded afresh, so that its variables belong to that start. */
export function mainOf<DB>(source: ProcessSource<DB>): ProcessMain<DB> | Promise<ProcessMain<DB>> {
  return typeof source === 'function' ? source : load<DB>(source);
}

async function load<DB>(source: string | URL): Promise<ProcessMain<DB>> {
  const url = new URL(
    typeof source === 'string' && !source.startsWith('file:') ? pathToFileURL(resolve(source)) : source,
  );
  // A module is kept by its address for as long as the program runs: another address is another module.
  url.searchParams.set('life', String(++loads));
  const { default: main } = (await import(/* @vite-ignore */ url.href)) as { readonly default?: unknown };
  if (typeof main !== 'function') {
    throw new TypeError(`the file of a process must export its main function as default: ${String(source)} does not`);
  }
  return main as ProcessMain<DB>;
}
