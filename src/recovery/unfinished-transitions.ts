import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { EffectRecord } from '../core/effect.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import { MAX_LIMIT } from '../core/limit.js';
import { type Assessment, assessEffects } from '../effect/assess-transition.js';
import type { AnyProbe } from '../effect/effect-request.js';
import type { Reclaimed } from '../lease/reclaim-stale-leases.js';
import type { Judged } from '../lease-row/judge-holder.js';
import { seekJudgedOf } from '../lease-row/read-holder.js';
import type { Shape } from '../shape.js';
import { readEffectRow } from '../sql/effect-rows.js';
import type { EffectStatements } from '../sql/effect-statements.js';
import { execute, type Row } from '../sql/execute.js';
import { partRows } from '../sql/rows.js';
import { journalThere } from '../survey/journal-there.js';

/** A transition that was broken off: in an effect, or by an owner that died before it wrote the stage. */
export interface UnfinishedTransitionWith<TaskId> extends Assessment {
  /** The task. */
  readonly taskId: TaskId;
  /**
   * The lease of the dead owner, which stays until somebody takes over; `null` where none is left: of the effects of
   * the task, those that are unfinished are then all that is known.
   */
  readonly lease: Reclaimed | null;
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

/** What a list of transitions is made of. */
export interface Listing {
  /** `undefined` without a journal. */
  readonly effects: EffectStatements | undefined;
  readonly probes: Readonly<Record<string, AnyProbe>> | undefined;
  /** The leases of dead owners whose task is still in their stage. */
  readonly brokenOff: readonly Judged[];
}

/** Lists the transitions that were broken off, and asks the probes of those that nobody is in the middle of. */
export async function unfinishedTransitions(
  context: Context,
  { effects, probes, brokenOff }: Listing,
): Promise<Result<ReadTransitions, StoreFailure>> {
  const journal = effects === undefined ? ok(undefined) : await journalThere(context);
  if (journal.isErr()) return err(journal.error);
  const read = await recordsOf(context, journal.value, brokenOff);
  if (read.isErr()) return err(read.error);
  const { byTask, unreadable } = read.value;
  const taskIds = [...byTask.keys()].sort((a, b) => (a < b ? -1 : 1));
  const owned = await ownersOf(context, taskIds);
  if (owned.isErr()) return err(owned.error);
  const { living, leases } = owned.value;

  const deadOf = new Map(brokenOff.map((judged) => [judged.holder.taskId, judged]));
  const transitions: UnfinishedTransition[] = [];
  for (const taskId of taskIds) {
    if (living.has(taskId)) continue;
    const dead = deadOf.get(taskId);
    const stands = dead !== undefined && leases.get(taskId) === dead.holder.claim;
    const records = (byTask.get(taskId) ?? []).filter(
      ({ state }) => stands || dead === undefined || state === 'started',
    );
    // Somebody took over and has ended since.
    if (!stands && records.length === 0) continue;
    const assessable = records.map((record) => ({ taskId, effect: record.effect, key: record.key, record }));
    const assessed = await assessEffects(context, assessable, probes);
    const lease = stands ? Object.freeze({ ...dead.holder, ...dead.judgement }) : null;
    transitions.push(Object.freeze({ taskId, ...assessed, lease }));
  }
  return ok({ transitions: Object.freeze(transitions), underWay: Object.freeze([...living]), unreadable });
}

interface Records {
  readonly byTask: ReadonlyMap<IdValue, readonly EffectRecord[]>;
  readonly unreadable: number;
}

/**
 * The unfinished effects of every task, and those that were applied in a transition that was broken off: under its
 * lease, for tokens only grow.
 */
async function recordsOf(
  context: Context,
  effects: EffectStatements | undefined,
  brokenOff: readonly Judged[],
): Promise<Result<Records, StoreFailure>> {
  const byTask = new Map<IdValue, EffectRecord[]>(brokenOff.map(({ holder }) => [holder.taskId, []]));
  if (effects === undefined) return ok({ byTask, unreadable: 0 });
  const { session, settings } = context;
  const readRecord = (row: Row): EffectRecord => readEffectRow(row, settings.taskIdType);
  const started = await execute(session, effects.readUnfinished({ limit: MAX_LIMIT }));
  if (started.isErr()) return err(started.error);
  const { read, unreadable } = partRows(session, started.value.rows, readRecord);
  for (const record of read) byTask.set(record.taskId, [...(byTask.get(record.taskId) ?? []), record]);
  for (const { holder } of brokenOff) {
    const ofTask = await execute(session, effects.readOfTask({ taskId: holder.taskId }));
    if (ofTask.isErr()) return err(ofTask.error);
    const records = partRows(session, ofTask.value.rows, readRecord).read;
    const isOfIt = ({ state, fencingToken }: EffectRecord) =>
      state === 'started' || fencingToken >= holder.fencingToken;
    byTask.set(holder.taskId, records.filter(isOfIt));
  }
  return ok({ byTask, unreadable: unreadable.length });
}

interface Owners {
  /** Those of the tasks whose owner is not proved dead, or whose lease cannot be read; none where the library does not guard. */
  readonly living: ReadonlySet<IdValue>;
  /** The claims of the dead ones. */
  readonly leases: ReadonlyMap<IdValue, string>;
}

async function ownersOf(context: Context, taskIds: readonly IdValue[]): Promise<Result<Owners, StoreFailure>> {
  const living = new Set<IdValue>();
  const leases = new Map<IdValue, string>();
  if (taskIds.length === 0 || context.mode() === 'off') return ok({ living, leases });
  const read = await seekJudgedOf(context, taskIds);
  return read.map(({ byId }) => {
    for (const [taskId, found] of byId) {
      if (found === 'unreadable' || found.judgement.verdict !== 'dead') living.add(taskId);
      else leases.set(taskId, found.holder.claim);
    }
    return { living, leases };
  });
}
