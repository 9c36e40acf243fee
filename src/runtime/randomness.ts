import { randomUUID } from 'node:crypto';
import type { Randomness } from '../port/randomness.js';

/** The operating system's chance. */
export const systemRandomness: Randomness = Object.freeze({ claim: () => randomUUID(), fraction: () => Math.random() });
