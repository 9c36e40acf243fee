import type { Result } from 'neverthrow';
import { sqliteDialect } from 'transition-ownership';
import { describe, test } from 'vitest';
import { openRig, type Rig, type RigOptions } from './rig.js';

/** Shows one promise of the library in a world of its own; throws if it is not kept. */
export type Proof = (rig: Rig) => Promise<void>;

/** Promises by their titles. The suites prove them; the negative controls show that each can fail. */
export type Proofs = Readonly<Record<string, Proof>>;

/** A database whose INSERT, UPDATE and DELETE answer with counts alone, as MySQL's do. */
export const countingDialect = Object.freeze({ ...sqliteDialect, name: 'sqlite without RETURNING', returning: false });

/** Proves every promise of a table, on a database that answers with rows and on one that answers with counts. */
export function prove(about: string, proofs: Proofs): void {
  proveOn(about, proofs, {});
  proveOn(`${about}, without RETURNING`, proofs, { dialect: countingDialect });
}

/** Proves every promise of a table on one kind of database. */
export function proveOn(about: string, proofs: Proofs, options: RigOptions): void {
  describe(about, () => {
    for (const [title, proof] of Object.entries(proofs)) {
      test(title, async () => {
        await using rig = await openRig(options);
        await proof(rig);
      });
    }
  });
}

/** The value of a result that must be ok. */
export async function ok<T, E>(result: PromiseLike<Result<T, E>>): Promise<T> {
  const given = await result;
  if (given.isErr()) throw new Error(`should be ok, is ${JSON.stringify(given.error)}`);
  return given.value;
}

/** The failure of a result that must have one. */
export async function err<T, E>(result: PromiseLike<Result<T, E>>): Promise<E> {
  const given = await result;
  if (given.isOk()) throw new Error(`should have failed, gave ${JSON.stringify(given.value)}`);
  return given.error;
}
