import type { IdValue } from '../core/id.js';

/** What is known of a transaction of the caller's: one for all that `using` makes of it. */
export interface TransactionState {
  /** The tasks whose lease it has written itself: it has their rows locked, and it alone can see them. */
  readonly written: Set<IdValue>;
  /** True if each of its statements sees what is committed by then; `undefined` as long as nobody could tell. */
  seesLatest: boolean | undefined;
}

const states = new WeakMap<object, TransactionState>();

/** The state of a transaction, by the handle on it. */
export function transactionStateOf(handle: object): TransactionState {
  let state = states.get(handle);
  if (state === undefined) {
    state = { written: new Set(), seesLatest: undefined };
    states.set(handle, state);
  }
  return state;
}
