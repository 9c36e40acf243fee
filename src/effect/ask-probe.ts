import type { Context } from '../context.js';
import type { EffectEvidence, EffectRecord } from '../core/effect.js';
import { reasonOf } from '../core/fail.js';
import { inspectValue } from '../core/inspect-value.js';
import { tryCall } from '../core/try-call.js';
import type { EffectKey } from '../sql/effect-statements.js';
import { type AnyProbe, idempotencyKey, type ProbeAnswer } from './effect-request.js';

/** What a probe said, with one clause for people where it did not know, and what it threw. */
export interface Asked {
  readonly evidence: EffectEvidence;
  readonly message: string;
  readonly thrown?: { readonly cause: unknown };
}

const ABSENT: Asked = Object.freeze({ evidence: 'absent', message: 'it was started, and there is no probe to ask' });
const ANSWERS: readonly unknown[] = ['applied', 'not-applied', 'unknown'];

/** Asks the caller's probe; one that throws or returns nonsense does not know. */
export async function askProbe(
  context: Context,
  probe: AnyProbe | undefined,
  { taskId, effect, key }: EffectKey,
  record: EffectRecord | null,
): Promise<Asked> {
  if (probe === undefined) return ABSENT;
  const named = { taskId, effect, key };
  const fencingToken = record === null ? null : record.fencingToken;
  const question = Object.freeze({ ...named, idempotencyKey: idempotencyKey(context, named), fencingToken });
  const answered = await tryCall(
    () => probe(question),
    (cause) => cause,
  );
  if (answered.isErr()) {
    const { error: cause } = answered;
    return { evidence: 'unknown', message: `its probe threw: ${reasonOf(cause)}`, thrown: { cause } };
  }
  return isAnswer(answered.value)
    ? { evidence: answered.value, message: 'its probe does not know' }
    : { evidence: 'unknown', message: `its probe returned ${inspectValue(answered.value)}` };
}

function isAnswer(value: unknown): value is ProbeAnswer {
  return ANSWERS.includes(value);
}
