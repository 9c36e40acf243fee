import { callable, optional, requestOf } from '../../core/request.js';
import { explore } from '../search/explore.js';
import { type Bounds, boundsRules } from '../search/report.js';
import type { AnyTables, TestStore } from '../store/store.js';
import type { Scenario } from '../world/scenario.js';
import { mutantsOf, type SqlMutant } from './mutate-sql.js';
import { rewritingStore } from './rewriting-store.js';

/** What became of the mutants. */
export interface MutationReport {
  /** How many were noticed. */
  readonly killed: number;
  /** Which were not: SQL that is redundant, or a test that is missing. */
  readonly survived: readonly Pick<SqlMutant, 'sql' | 'change'>[];
  /** Each mutant that was noticed, and what noticed it. */
  readonly killers: readonly (Pick<SqlMutant, 'sql' | 'change'> & { readonly by: string })[];
}

const checkOptions = requestOf({ ...boundsRules, only: optional(callable) }, 'bounds');

/** How far `sqlMutants` goes. */
export interface MutationBounds extends Bounds {
  /** Which statements are changed. Default: all that the scenarios send. */
  readonly only?: (sql: string) => boolean;
}

/**
 * Asks whether the scenarios would notice if the SQL were wrong: changes one thing of each statement that they send, and
 * runs them again until one fails.
 *
 * Throws if the scenarios fail as they stand.
 *
 * @param makeStore - Makes a store; one is made and closed again.
 * @param scenarios - What must notice; the cheap ones first.
 * @example
 * ```ts
 * import { invariant, memoryStore, sqlMutants } from 'transition-ownership/testing';
 * import { migrate, scenario, type Tables } from './scenario.js';
 *
 * const done = invariant<Tables>('the task is done', (world) => world.rows('task')[0]?.['stage'] === 'done');
 * const { survived } = await sqlMutants(() => memoryStore({ migrate }), [{ ...scenario, finally: done }]);
 * for (const { change } of survived) console.log(change); // SQL that is redundant, or a rule that is missing
 * ```
 */
export async function sqlMutants<DB = AnyTables>(
  makeStore: () => TestStore<DB>,
  scenarios: readonly Scenario<DB>[],
  options: MutationBounds = {},
): Promise<MutationReport> {
  checkOptions(options);
  const { only = () => true, ...bounds } = options;
  const store = makeStore();
  try {
    const sent = new Set<string>();
    const clean = await firstFailure(
      rewritingStore(store, (sql) => (sent.add(sql), sql)),
      scenarios,
      bounds,
    );
    if (clean !== undefined) throw new Error(`the scenarios fail without any change: ${clean}`);
    const survived: SqlMutant[] = [];
    const killers: (SqlMutant & { by: string })[] = [];
    for (const mutant of [...sent].filter(only).flatMap(mutantsOf)) {
      const changed = rewritingStore(store, (sql) => (sql === mutant.sql ? mutant.mutated : sql));
      const by = await firstFailure(changed, scenarios, bounds);
      if (by === undefined) survived.push(mutant);
      else killers.push({ ...mutant, by });
    }
    return { killed: killers.length, survived, killers };
  } finally {
    await store.close();
  }
}

async function firstFailure<DB>(
  store: TestStore<DB>,
  scenarios: readonly Scenario<DB>[],
  bounds: Bounds,
): Promise<string | undefined> {
  for (const scenario of scenarios) {
    const { failure } = await explore(store, scenario, { reduce: 'both', ...bounds, shrink: false });
    if (failure !== undefined) return failure.violated;
  }
  return undefined;
}
