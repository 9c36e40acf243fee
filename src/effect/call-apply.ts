import type { Context } from '../context.js';
import { type Json, recordable } from '../core/effect-result.js';
import { isNotApplied } from '../core/not-applied.js';
import { tryCall } from '../core/try-call.js';
import { type CheckedEffect, idempotencyKey } from './effect-request.js';

/** How a call of `apply` ended. */
export type ApplyEnd =
  | { readonly is: 'applied'; readonly text: string; readonly value: Json; readonly unrecorded: string | null }
  | { readonly is: 'not-applied'; readonly cause: unknown }
  | { readonly is: 'unknown'; readonly cause: unknown };

/**
 * Calls `apply`. One that returns has applied its effect, whatever it returned: a result that is not plain
 * JSON is kept as `null`, and reported. A result of the neverthrow kind counts for its value, or as if thrown.
 */
export async function callApply(context: Context, request: CheckedEffect): Promise<ApplyEnd> {
  const { fencingToken, signal } = request.lease;
  const input = Object.freeze({ fencingToken, idempotencyKey: idempotencyKey(context, request), signal });
  const ended = await tryCall(
    () => request.apply(input),
    (cause) => cause,
  );
  if (ended.isErr()) return { is: isNotApplied(ended.error) ? 'not-applied' : 'unknown', cause: ended.error };
  const result = recordable(ended.value);
  return result.is === 'json'
    ? { is: 'applied', text: result.text, value: result.value, unrecorded: null }
    : { is: 'applied', text: 'null', value: null, unrecorded: result.message };
}
