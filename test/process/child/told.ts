import type { Result, ResultAsync } from 'neverthrow';

/** The outcome of a verb on its way to the test. */
export type Told<T, E> = { readonly ok: T } | { readonly err: E };

/** Waits for the outcome of a verb. */
export async function told<T, E>(outcome: ResultAsync<T, E> | Promise<Result<T, E>>): Promise<Told<T, E>> {
  const result = await outcome;
  return result.isOk() ? { ok: result.value } : { err: result.error };
}
