import { statSync } from 'node:fs';
import type { Files } from '../port/files.js';

/** Files of this host, by device and inode. */
export const systemFiles: Files = Object.freeze({
  identity: (path: string) => {
    try {
      const found = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (found === undefined) return 'none';
      return found.ino === 0n ? null : `${found.dev}:${found.ino}`;
    } catch {
      return null;
    }
  },
});
