import { type EffectRecord } from '../core/effect.js';
import { type Json, readResult } from '../core/effect-result.js';
import type {
  EffectFailed,
  EffectUnknown,
  EffectUnrecorded,
  LeaseLost,
  NotEnoughTime,
  StoreFailure,
} from '../core/failure.js';

/** An effect that is applied. */
export interface EffectOutcome<V extends Json | void = Json> {
  /** Applied by this very call, or known to have been applied before. */
  readonly status: 'applied' | 'already-applied';
  /**
   * What `apply` returned, as JSON gives it back. `null` if it returned nothing, if a probe or an operator told
   * that the effect was applied, or if the result could not be recorded.
   */
  readonly value: V | null;
  /** Why the result of this call could not be recorded; the effect was applied all the same. */
  readonly unrecorded?: string;
}

/** Why an effect is not known to be applied, or why its result is not kept. */
export type EffectFailure<V = unknown> =
  | LeaseLost<V>
  | NotEnoughTime
  | EffectUnknown
  | EffectFailed
  | EffectUnrecorded<V>
  | StoreFailure;

/** An effect that was applied before, with the result that was recorded then. */
export function alreadyApplied(result: EffectRecord['result']): EffectOutcome {
  return Object.freeze({ status: 'already-applied', value: readResult(result) });
}
