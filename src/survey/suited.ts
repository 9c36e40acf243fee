import { err, type Result } from 'neverthrow';
import type { Context, Part } from '../context.js';
import type { StoreFailure } from '../core/failure.js';

/**
 * Does what writes some tables if nothing that was found of them, or of the session, stands against it: the first
 * that writes looks, and all others go by what it found. Under `off` no one looks.
 */
export function suited<T, E>(
  context: Context,
  parts: readonly Part[],
  work: () => Promise<Result<T, E>>,
): Promise<Result<T, E | StoreFailure>> {
  if (context.survey.suits(parts) || context.mode() === 'off') return work();
  return afterLook(context, parts, work);
}

async function afterLook<T, E>(
  context: Context,
  parts: readonly Part[],
  work: () => Promise<Result<T, E>>,
): Promise<Result<T, E | StoreFailure>> {
  const failure = await context.survey.look(context.session, parts);
  return failure === undefined || context.mode() === 'observe' ? work() : err(failure);
}
