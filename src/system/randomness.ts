import { randomUUID } from 'node:crypto';
import type { Randomness } from '../port/randomness.js';

/** The operating system's chance. */
export const systemRandomness: Randomness = Object.freeze({
  // Without its dashes it is one string: as Node joins it, it drags a dozen pieces along.
  claim: () => randomUUID().replace(/-/g, ''),
  fraction: () => Math.random(),
});
