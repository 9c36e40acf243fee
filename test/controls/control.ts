import type { Proof, Proofs } from '../rig/proofs.js';
import { openRig, type RigOptions } from '../rig/rig.js';

/** A named promise that a guard keeps. */
export interface Control {
  readonly title: string;
  readonly proof: Proof;
}

/** The promise of a table by its title. */
export function by(proofs: Proofs, title: string): Control {
  const proof = proofs[title];
  if (proof === undefined) throw new Error(`no promise has the title ${JSON.stringify(title)}`);
  return { title, proof };
}

/** True if a promise is kept in a world like this. */
export async function isKept({ proof }: Control, options: RigOptions): Promise<boolean> {
  try {
    await using rig = await openRig(options);
    await proof(rig);
    return true;
  } catch {
    return false;
  }
}
