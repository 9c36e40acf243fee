import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { EffectRecord } from '../core/effect.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { MAX_LIMIT } from '../core/limit.js';
import { type Assessment, assessEffects } from '../effect/assess-transition.js';
import type { AnyProbe } from '../effect/effect-request.js';
import { seekJudgedOf } from '../lease-row/read-holder.js';
import type { Shape } from '../shape.js';
import { readEffectRow } from '../sql/effect-rows.js';
import type { EffectStatements } from '../sql/effect-statements.js';
import { execute } from '../sql/execute.js';
import { partRows } from '../sql/rows.js';

/** A transition that was broken off in an effect; of its effects those that are unfinished. */
export interface UnfinishedTransitionWith<TaskId> extends Assessment {
  /** The task. */
  readonly taskId: TaskId;
}

/** The same, with the types of an ownership. */
export type UnfinishedTransition<S extends Shape = Shape> = UnfinishedTransitionWith<S['taskId']>;

/** The transitions with unfinished effects. */
export interface UnfinishedTransitionsWith<TaskId> {
  /** Those that no one is in the middle of, in the order of their tasks. */
  readonly transitions: readonly UnfinishedTransitionWith<TaskId>[];
  /** The tasks of those whose owner lives, or may live: they are its own to finish. */
  readonly underWay: readonly TaskId[];
}

/** The same, with the types of an ownership. */
export type UnfinishedTransitions<S extends Shape = Shape> = UnfinishedTransitionsWith<S['taskId']>;

/** The same, with the number of rows of the journal that could not be read: each was reported. */
export interface ReadTransitions extends UnfinishedTransitions {
  readonly unreadable: number;
}

/** Lists the transitions with unfinished effects, and asks the probes of those that no one is in the middle of. */
export async function unfinishedTransitions(
  context: Context,
  effects: EffectStatements,
  probes: Readonly<Record<string, AnyProbe>> | undefined,
): Promise<Result<ReadTransitions, StoreFailure>> {
  const read = await execute(context.session, effects.readUnfinished({ limit: MAX_LIMIT }));
  if (read.isErr()) return err(read.error);
  const byTask = new Map<IdValue, EffectRecord[]>();
  const { read: records, unreadable } = partRows(context.session, read.value.rows, (row) =>
    readEffectRow(row, context.settings.taskIdType),
  );
  for (const record of records) {
    byTask.set(record.taskId, [...(byTask.get(record.taskId) ?? []), record]);
  }
  const owned = await ownedOf(context, [...byTask.keys()]);
  if (owned.isErr()) return err(owned.error);

  const transitions: UnfinishedTransition[] = [];
  for (const [taskId, ofTask] of byTask) {
    if (owned.value.has(taskId)) continue;
    const assessable = ofTask.map((record) => ({ taskId, effect: record.effect, key: record.key, record }));
    transitions.push(Object.freeze({ taskId, ...(await assessEffects(context, assessable, probes)) }));
  }
  const underWay = Object.freeze([...owned.value]);
  return ok({ transitions: Object.freeze(transitions), underWay, unreadable: unreadable.length });
}

/** Those of the tasks whose owner is not proved dead, or whose lease cannot be read; no one's where the library does not guard. */
async function ownedOf(
  context: Context,
  taskIds: readonly IdValue[],
): Promise<Result<ReadonlySet<IdValue>, StoreFailure>> {
  if (taskIds.length === 0 || context.mode() === 'off') return ok(new Set());
  const read = await seekJudgedOf(context, taskIds);
  return read.map(({ byId }) => {
    const owned = [...byId].filter(([, found]) => found === 'unreadable' || found.judgement.verdict !== 'dead');
    return new Set(owned.map(([taskId]) => taskId));
  });
}
