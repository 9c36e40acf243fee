import { posix } from 'node:path';
import type { Source } from './source.js';

type Imports = Pick<Source, 'path' | 'imports'>;

/**
 * The rings of files that import each other, types included: one line for each. Who opens a file of a ring has to read
 * the whole of it.
 */
export function circlesOf(files: readonly Imports[]): string[] {
  const reaches = new Map(files.map((file) => [file.path, reachedBy(file)]));
  const numbered = new Map<string, number>();
  const open: string[] = [];
  const circles: string[] = [];
  const visit = (path: string): number => {
    const number = numbered.size;
    numbered.set(path, number);
    let low = number;
    open.push(path);
    for (const next of reaches.get(path) ?? []) {
      if (!reaches.has(next)) continue;
      if (!numbered.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, numbered.get(next) ?? number);
    }
    if (low !== number) return low;
    const ring = open.splice(open.indexOf(path));
    if (ring.length > 1 || reaches.get(path)?.includes(path) === true) circles.push(ring.sort().join(', '));
    return low;
  };
  for (const { path } of files) if (!numbered.has(path)) visit(path);
  return circles;
}

const reachedBy = ({ path, imports }: Imports): string[] =>
  imports
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from }) => posix.join(posix.dirname(path), from.replace(/\.js$/, '.ts')));
