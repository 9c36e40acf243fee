import { checkObject } from './check.js';
import { checkText } from './id.js';
import { inspectValue } from './inspect-value.js';

/** A map of stages: from each stage, the stages that a task may go to next. */
export type StageMap = Readonly<Record<string, readonly string[]>>;

/** A checked, frozen map of stages. */
export type Stages<M extends StageMap> = { readonly [From in keyof M]: readonly M[From][number][] };

/**
 * Fixes which moves between stages are legal: others neither compile nor run.
 *
 * Throws `RangeError` if a move leads to a stage that the map does not name.
 *
 * @example
 * ```ts
 * import { defineStages } from 'transition-ownership';
 *
 * const transitions = defineStages({
 *   'deploy-staging': ['deploy'],
 *   deploy: ['done', 'deploy-staging'],
 *   done: [],
 * });
 * transitions.deploy; // ['done', 'deploy-staging']
 * ```
 */
export function defineStages<const M extends Readonly<Record<string, readonly (keyof M & string)[]>>>(
  stages: M,
): Stages<M> {
  checkStages('stages', stages);
  for (const nexts of Object.values<readonly string[]>(stages)) Object.freeze(nexts);
  return Object.freeze(stages);
}

/** Throws for a map with a move to a stage that it does not name. */
export function checkStages(name: string, stages: unknown): asserts stages is StageMap {
  checkObject(name, stages);
  for (const [from, nexts] of Object.entries(stages)) {
    checkText('a stage', from);
    if (!Array.isArray(nexts))
      throw new TypeError(`the moves from stage ${inspectValue(from)} must be an array, got ${inspectValue(nexts)}`);
    for (const next of nexts as readonly unknown[]) {
      if (typeof next !== 'string' || !Object.hasOwn(stages, next)) {
        throw new RangeError(
          `stage ${inspectValue(from)} leads to ${inspectValue(next)}, which is not a stage of the map`,
        );
      }
    }
  }
}

/** The map as it is at this moment. */
export function keptStages(stages: StageMap): StageMap {
  return Object.freeze(
    Object.fromEntries(Object.entries(stages).map(([from, nexts]) => [from, Object.freeze([...nexts])])),
  );
}

/** True if the map allows the move; a task without a stage may enter anywhere. */
export function isLegalMove(stages: StageMap, from: string | null, to: string | null): boolean {
  if (from === null) return to !== null && Object.hasOwn(stages, to);
  return to !== null && (Object.hasOwn(stages, from) ? (stages[from] ?? []).includes(to) : false);
}
