import type { StoreFailureKind } from '../core/failure.js';
import type { Classified } from './dialect.js';

/** The statement certainly did nothing. */
export function notApplied(kind: StoreFailureKind, retryable: boolean): Classified {
  return Object.freeze({ kind, retryable, outcome: 'not-applied' });
}

/** The statement may have been applied. */
export function unknownOutcome(kind: StoreFailureKind, retryable: boolean): Classified {
  return Object.freeze({ kind, retryable, outcome: 'unknown' });
}

/** The code that a driver gave its error, or the empty string. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

/** The words of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
