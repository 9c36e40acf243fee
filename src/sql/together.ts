import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';

/** One thing that happens as a whole, or not: a statement, or one and another that runs where the first changed a row. */
export interface Unit {
  readonly query: CompiledQuery;
  readonly whereChanged: CompiledQuery | undefined;
}

/** What became of a unit. */
export type UnitOutcome =
  | { readonly is: 'done'; readonly result: QueryResult<unknown> }
  /** It failed; `isCommit` if it was the commit that failed, and not the unit. */
  | { readonly is: 'failed'; readonly cause: unknown; readonly isCommit: boolean };

/**
 * What became of the first few units of a list, in their order; the others were not begun. Or why there is nothing to
 * say: `elsewhere` if this connection cannot do it now, `taken-back` if one of them took back what all had done.
 */
export type TogetherOutcome = readonly UnitOutcome[] | 'elsewhere' | 'taken-back';

/**
 * A connection that can run several writes in one commit, in one synchronous call: between two ticks a caller's own
 * `begin`, sent past Kysely, would land in the transaction.
 */
export interface TogetherConnection {
  /** True of a statement that may stand in such a commit: a write. */
  mayJoin(query: CompiledQuery): boolean;
  /** Runs units in one commit; begins none once `isOver`. */
  run(units: readonly Unit[], isOver: () => boolean): TogetherOutcome;
}

const TOGETHER = Symbol.for('transition-ownership.together');

/** Gives a connection what it takes to run writes together. */
export function offerTogether(connection: DatabaseConnection, together: TogetherConnection): void {
  Object.defineProperty(connection, TOGETHER, { value: together });
}

/** What a connection can do; `undefined` of one that is not ours, or that someone watches: what went past its `executeQuery` would be unseen. */
export function togetherOf(connection: DatabaseConnection): TogetherConnection | undefined {
  if (Object.hasOwn(connection, 'executeQuery')) return undefined;
  return (connection as { readonly [TOGETHER]?: TogetherConnection })[TOGETHER];
}
