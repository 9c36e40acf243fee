import { type Snapshot, snapshot } from 'transition-ownership';
import type { Orchestrator } from '../orchestrator.js';
import type { Applied } from '../outside.js';
import { gates } from '../stages.js';

/** Something that must be true when everything is over; `broken` says each way in which it is not. */
export interface Promised {
  readonly text: string;
  readonly broken: readonly string[];
}

/** What is looked at: the log of the outside world, the tasks, and who still holds something. */
export interface Evidence {
  readonly applied: readonly Applied[];
  readonly tasks: readonly { readonly id: number; readonly sha: string; readonly stage: string }[];
  readonly leases: Snapshot['leases'];
}

/** Reads the evidence from the file and the database alone, whatever the processes have said. */
export async function readEvidence({ db, ownership, outside }: Orchestrator): Promise<Evidence> {
  const tasks = await db.selectFrom('tasks').select(['id', 'sha', 'stage']).orderBy('id').execute();
  const { leases } = (await snapshot(ownership))._unsafeUnwrap();
  return { applied: outside.applied(), tasks, leases };
}

/** Holds the promises against the evidence. */
export function checkPromises({ applied, tasks, leases }: Evidence): Promised[] {
  const effects = Object.values(gates).flat();
  const counted = tasks.flatMap(({ id, sha }) =>
    effects.map((effect) => ({
      what: `${effect} of task ${id}`,
      times: applied.filter((step) => step.effect === effect && step.key === sha).length,
    })),
  );
  return [
    {
      text: `each effect exactly once: ${effects.join(', ')} of ${tasks.length} tasks`,
      broken: counted.filter(({ times }) => times !== 1).map(({ what, times }) => `${what}: ${times} times`),
    },
    {
      text: 'every task is done',
      broken: tasks.filter(({ stage }) => stage !== 'done').map(({ id, stage }) => `task ${id} is in ${stage}`),
    },
    {
      text: `fencing tokens only grow, in the order in which the outside world was asked`,
      broken: tasks.flatMap(({ id }) => shrinking(applied.filter(({ taskId }) => taskId === id))),
    },
    {
      text: 'nobody holds anything any more',
      broken: leases.map(({ taskId, actor, pid }) => `task ${taskId} is held by ${actor} (pid ${pid})`),
    },
  ];
}

function shrinking(steps: readonly Applied[]): string[] {
  return steps.flatMap(({ effect, taskId, fencingToken }, index) => {
    const before = steps[index - 1]?.fencingToken ?? null;
    if (fencingToken === null) return [`${effect} of task ${taskId} was asked for without a token`];
    return before !== null && fencingToken < before
      ? [`${effect} of task ${taskId}: token ${fencingToken} after ${before}`]
      : [];
  });
}
