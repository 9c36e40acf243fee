import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { IdValue } from '../core/id.js';
import { mayReclaim } from '../core/mode.js';
import type { Reclaimed } from '../lease/reclaim-stale-leases.js';
import { findTasks } from '../lease-row/find-task.js';
import type { Judged } from '../lease-row/judge-holder.js';
import { lowerExpiry } from '../lease-row/lower-expiry.js';
import { pagesOfJudged } from '../lease-row/read-holder.js';
import { reclaim } from '../lease-row/reclaim.js';
import { isNoId } from '../survey/no-such-id.js';
import { suited } from '../survey/suited.js';

/** The leases of dead owners: those that a recovery deletes, and those that it keeps. */
export interface DeadLeases {
  /** Those whose task has moved on, or is gone: deleted. */
  readonly reclaimed: readonly Reclaimed[];
  /** The same, where the DELETE failed. */
  readonly skipped: readonly Holder[];
  /** Those whose task is still in the stage of the lease: nobody has done the rest, so that they stay. */
  readonly brokenOff: readonly Judged[];
  readonly unreadable: number;
}

/** None at all. */
export const NO_DEAD_LEASES: DeadLeases = Object.freeze({ reclaimed: [], skipped: [], brokenOff: [], unreadable: 0 });

/** Deletes the leases of dead owners whose task has moved on; the others are what tells that a transition was broken off. */
export async function partDeadLeases(context: Context, dryRun: boolean): Promise<Result<DeadLeases, StoreFailure>> {
  const mode = context.mode();
  if (mode === 'off') return ok(NO_DEAD_LEASES);
  const deletes = mayReclaim(mode);
  const writes = deletes && !dryRun;
  const work = () => part(context, { writes, deletes });
  return writes ? suited(context, ['lease'], work) : work();
}

interface Parting {
  /** False to change nothing. */
  readonly writes: boolean;
  /** False where the mode lets nothing be deleted. */
  readonly deletes: boolean;
}

async function part(context: Context, { writes, deletes }: Parting): Promise<Result<DeadLeases, StoreFailure>> {
  const reclaimed: Reclaimed[] = [];
  const skipped: Holder[] = [];
  const brokenOff: Judged[] = [];
  let unreadable = 0;
  for await (const page of pagesOfJudged(context)) {
    if (page.isErr()) return err(page.error);
    unreadable += page.value.unreadable.length;
    if (writes) for (const judged of page.value.judged) await lowerExpiry(context, judged);
    const dead = page.value.judged.filter(({ judgement }) => judgement.verdict === 'dead');
    const stages = await stagesOf(context, dead);
    if (stages.isErr()) return err(stages.error);
    for (const judged of dead) {
      const { holder, judgement } = judged;
      if (isBrokenOff(context, holder, stages.value)) brokenOff.push(judged);
      else if (deletes) {
        const deleted = writes ? await reclaim(context, judged) : ok('reclaimed' as const);
        if (deleted.isErr() && deleted.error.kind === 'connection') return err(deleted.error);
        if (deleted.isErr() || deleted.value === 'locked') skipped.push(holder);
        else if (deleted.value === 'reclaimed') reclaimed.push(Object.freeze({ ...holder, ...judgement }));
      }
    }
  }
  return ok({ reclaimed, skipped, brokenOff, unreadable });
}

/** Where no INSERT returns its row, a lease that named no stage says none: nothing tells that its task has moved on. */
function isBrokenOff(
  { dialect }: Context,
  { taskId, stage }: Holder,
  stages: ReadonlyMap<IdValue, string | null>,
): boolean {
  if (!stages.has(taskId)) return false;
  return stages.get(taskId) === stage || (stage === null && !dialect.returning);
}

/** The stages of the tasks that are there. */
async function stagesOf(
  context: Context,
  dead: readonly Judged[],
): Promise<Result<ReadonlyMap<IdValue, string | null>, StoreFailure>> {
  const ids = dead.map(({ holder }) => holder.taskId).filter((taskId) => !isNoId(context, taskId));
  if (ids.length === 0) return ok(new Map());
  const found = await findTasks(context, ids, 'look');
  return found.map((tasks) => new Map([...tasks].map(([taskId, { stage }]) => [taskId, stage])));
}
