import { findImpossibleQueued } from 'transition-ownership';
import { Misshapen, neverReject } from './failed.js';
import type { Ownership, Part } from './mapping.js';
import { foresee } from './recover.js';

type Over = (parts: readonly Part[]) => Ownership;

/** The parts that are there: all that a mapping names, and else those that are found under their usual names. */
export async function partsOf(mapped: boolean, over: Over): Promise<readonly Part[]> {
  if (mapped) return ['jobs', 'effects'];
  const found: Part[] = [];
  for (const part of ['jobs', 'effects'] as const) if (await isThere(part, over)) found.push(part);
  return found;
}

/** True if the tables of a part can be read as they are configured. */
export async function isThere(part: Part, over: Over): Promise<boolean> {
  const wanted = `The ${part} cannot be read`;
  try {
    if (part === 'jobs') neverReject(await findImpossibleQueued(over([part]), { limit: 1 }), wanted);
    else await foresee(over([part]), wanted);
    return true;
  } catch (error) {
    if (error instanceof Misshapen) return false;
    throw error;
  }
}
