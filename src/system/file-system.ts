import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The type of the file system that a file is on, by a list of mounts as `/proc/self/mounts` has it. */
export function fileSystemIn(mounts: string, file: string): string | null {
  let longest = '';
  let type: string | null = null;
  for (const line of mounts.split('\n')) {
    const [, escaped, of] = line.split(' ');
    if (escaped === undefined || of === undefined) continue;
    const at = escaped.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
    const contains = file === at || file.startsWith(at.endsWith('/') ? at : `${at}/`);
    // The last of two mounts on one place is the one that is seen.
    if (contains && at.length >= longest.length) [longest, type] = [at, of];
  }
  return type;
}

/** The type of the file system that a file is on; `null` where the system does not say. */
export function fileSystemOf(file: string): string | null {
  try {
    return fileSystemIn(readFileSync('/proc/self/mounts', 'utf8'), resolve(file));
  } catch {
    return null;
  }
}
