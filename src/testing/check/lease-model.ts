import type { SequentialModel } from './linearizable.js';

/** What may be asked of a lease. */
export type LeaseInput =
  | {
      readonly verb: 'acquire';
      readonly taskId: string | number;
      readonly owner: string;
      readonly atMs?: number;
      readonly ttlMs?: number;
    }
  | {
      readonly verb: 'renew';
      readonly taskId: string | number;
      readonly fencingToken: number;
      readonly atMs?: number;
      readonly ttlMs?: number;
    }
  | { readonly verb: 'release'; readonly taskId: string | number; readonly fencingToken: number }
  | {
      readonly verb: 'write';
      readonly taskId: string | number;
      readonly fencingToken: number;
      readonly expected: string | null;
      readonly next: string;
    };

/** What it may answer: the grant, or `null` for busy, to `acquire`; whether it was done, to the others. */
export type LeaseOutput = { readonly fencingToken: number } | boolean | null;

/** A lease and the stage that it guards, at rest. */
export interface LeaseState {
  /** The highest token that was ever granted. */
  readonly highest: number;
  /** The token that holds the lease; `unknown` if a grant was never answered; `null` if it is free. */
  readonly holder: number | 'unknown' | null;
  /** The instant from which others may take it, in milliseconds; `null` where the history does not tell. */
  readonly expiresMs: number | null;
  /** The stage; `undefined` until the history shows it. */
  readonly stage: string | null | undefined;
}

/**
 * The lease as a sequential object, one for each task: tokens only grow, a held lease is busy, only the holder renews,
 * releases and writes, and a write needs the stage that it expects.
 *
 * With `atMs` and `ttlMs` a lease may be taken over from its expiry on and not before; without them at any time, for
 * then evidence may have ended it.
 */
export const leaseModel: SequentialModel<LeaseState, LeaseInput, LeaseOutput> = Object.freeze({
  init: (): LeaseState => ({ highest: 0, holder: null, expiresMs: null, stage: undefined }),
  key: ({ highest, holder, expiresMs, stage }: LeaseState) => `${highest}/${holder}/${expiresMs}/${stage}`,
  partition: ({ taskId }: LeaseInput) => String(taskId),
  step(state: LeaseState, input: LeaseInput, output: LeaseOutput | undefined): LeaseState | null {
    switch (input.verb) {
      case 'acquire':
        return acquired(state, input, output);
      case 'renew':
        return answered(state, output, isHeldBy(state, input), {
          ...state,
          expiresMs: expiryOf(input) ?? state.expiresMs,
        });
      case 'release':
        return answered(state, output, state.holder === input.fencingToken, {
          ...state,
          holder: null,
          expiresMs: null,
        });
      case 'write':
        return written(state, input, output);
    }
  },
});

type Input<Verb extends LeaseInput['verb']> = Extract<LeaseInput, { verb: Verb }>;

const expiryOf = ({ atMs, ttlMs }: { readonly atMs?: number; readonly ttlMs?: number }) =>
  atMs === undefined || ttlMs === undefined ? null : atMs + ttlMs;

const isOver = (state: LeaseState, atMs: number | undefined) =>
  atMs === undefined || state.expiresMs === null || state.expiresMs <= atMs;

const isHeldBy = (state: LeaseState, { fencingToken, atMs }: Input<'renew'>) =>
  state.holder === fencingToken && (atMs === undefined || state.expiresMs === null || state.expiresMs > atMs);

function acquired(state: LeaseState, input: Input<'acquire'>, output: LeaseOutput | undefined): LeaseState | null {
  const mayTake = state.holder === null || isOver(state, input.atMs);
  const mayRefuse = state.holder !== null && (input.atMs === undefined || !isOver(state, input.atMs));
  if (output === undefined) return mayTake ? { ...state, holder: 'unknown', expiresMs: expiryOf(input) } : state;
  if (typeof output !== 'object' || output === null) return mayRefuse ? state : null;
  const { fencingToken } = output;
  if (!mayTake || fencingToken <= state.highest) return null;
  return { ...state, highest: fencingToken, holder: fencingToken, expiresMs: expiryOf(input) };
}

function written(state: LeaseState, input: Input<'write'>, output: LeaseOutput | undefined): LeaseState | null {
  const { fencingToken, expected, next } = input;
  if (state.stage === undefined && state.holder === fencingToken && output === false) return state;
  const fits = state.stage === undefined || state.stage === expected;
  return answered(state, output, state.holder === fencingToken && fits, { ...state, stage: next });
}

/** The next state if the answer is the right one; an unknown outcome of what is possible has taken place. */
function answered(
  state: LeaseState,
  output: LeaseOutput | undefined,
  possible: boolean,
  next: LeaseState,
): LeaseState | null {
  if (output !== undefined && output !== possible) return null;
  return possible ? next : state;
}
