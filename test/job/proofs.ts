import type { Result } from 'neverthrow';
import { describe, test } from 'vitest';
import { type JobStore, jobStores } from './stores.js';
import { openYard, type Yard, type YardOptions } from './yard.js';

/** Shows one promise of the library in a yard of its own; throws if it is not kept. */
export type Proof = (yard: Yard) => Promise<void>;

/** Promises by their titles. */
export type Proofs = Readonly<Record<string, Proof>>;

/** Proves every promise of a table on every kind of database. */
export function prove(about: string, suite: string, proofs: Proofs): void {
  for (const store of jobStores) proveOn(store, about, proofs, { suite });
}

/** Proves every promise of a table on one kind of database. */
export function proveOn(store: JobStore, about: string, proofs: Proofs, options: YardOptions): void {
  describe.skipIf(store.missing !== undefined)(`${about}, on ${store.name}`, () => {
    for (const [title, proof] of Object.entries(proofs)) {
      test(title, async () => {
        await using yard = await openYard(store, options);
        await proof(yard);
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
export async function failure<T, E>(result: PromiseLike<Result<T, E>>): Promise<E> {
  const given = await result;
  if (given.isOk()) throw new Error(`should be a failure, is ${JSON.stringify(given.value)}`);
  return given.error;
}
