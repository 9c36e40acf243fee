import { err, ok, type Result } from 'neverthrow';

/** Calls the caller's code; whatever it does becomes a result: its own, its value, or what it threw. */
export async function tryCall(
  call: () => unknown,
  failed: (cause: unknown) => unknown,
): Promise<Result<unknown, unknown>> {
  try {
    const value = await call();
    return isResult(value) ? value : ok(value);
  } catch (cause) {
    return err(failed(cause));
  }
}

/** A result of any copy of neverthrow. */
function isResult(value: unknown): value is Result<unknown, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const { isOk, isErr, match } = value as Partial<Result<unknown, unknown>>;
  return typeof isOk === 'function' && typeof isErr === 'function' && typeof match === 'function';
}
