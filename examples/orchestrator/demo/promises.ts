import { type LeaseSnapshot, snapshot } from 'transition-ownership';
import { orThrow } from '../../shared/or-throw.js';
import type { Orchestrator } from '../orchestrator.js';
import type { Applied } from '../outside.js';
import { gates } from '../stages.js';

/** Something that must be true when everything is over; `broken` says each way in which it is not. */
export interface Promised {
  readonly text: string;
  readonly broken: readonly string[];
}

/** What is looked at, whatever the processes have said: the log of the outside world, and the database. */
export interface Evidence {
  readonly applied: readonly Applied[];
  readonly tasks: readonly { readonly id: number; readonly stage: string }[];
  readonly jobs: readonly { readonly id: number; readonly status: string; readonly owned: boolean }[];
  readonly leases: readonly Pick<LeaseSnapshot, 'taskId' | 'actor' | 'pid'>[];
}

/** Reads the evidence. */
export async function readEvidence({ db, ownership }: Orchestrator, applied: readonly Applied[]): Promise<Evidence> {
  const tasks = await db.selectFrom('tasks').select(['id', 'stage']).execute();
  const jobs = await db.selectFrom('jobs').selectAll().execute();
  const { leases } = orThrow(await snapshot(ownership));
  const owned = (job: (typeof jobs)[number]) => [job.run_id, job.pid, job.started_at].some((value) => value !== null);
  return { applied, tasks, jobs: jobs.map((job) => ({ ...job, owned: owned(job) })), leases };
}

/** Holds the promises against the evidence. */
export function checkPromises({ applied, tasks, jobs, leases }: Evidence): Promised[] {
  const effects = Object.values(gates).flat();
  const counted = tasks.flatMap(({ id }) =>
    effects.map((effect) => ({
      what: `${effect} of task ${id}`,
      times: applied.filter((step) => step.effect === effect && step.taskId === id).length,
    })),
  );
  const queued = jobs.filter(({ status }) => status === 'queued');
  return [
    {
      text: `each of ${effects.length} irreversible steps of ${tasks.length} tasks was taken exactly once`,
      broken: counted.filter(({ times }) => times !== 1).map(({ what, times }) => `${what}: ${times} times`),
    },
    {
      text: 'every task is done, and no job waits or runs',
      broken: [
        ...tasks.filter(({ stage }) => stage !== 'done').map(({ id, stage }) => `task ${id} is in ${stage}`),
        ...jobs.filter(isOpen).map(({ id, status }) => `job ${id} is ${status}`),
      ],
    },
    {
      text: 'no queued job carries a run',
      broken: queued.filter(({ owned }) => owned).map(({ id }) => `job ${id} does`),
    },
    {
      text: 'the outside world never saw a fencing token smaller than one before it',
      broken: tasks.flatMap(({ id }) => shrinking(applied.filter(({ taskId }) => taskId === id))),
    },
    {
      text: 'nobody holds anything any more',
      broken: leases.map(({ taskId, actor, pid }) => `task ${taskId} is held by ${actor} (pid ${pid})`),
    },
  ];
}

const isOpen = ({ status }: Evidence['jobs'][number]): boolean => status === 'queued' || status === 'running';

function shrinking(steps: readonly Applied[]): string[] {
  return steps.flatMap(({ effect, taskId, fencingToken }, index) => {
    const before = steps[index - 1]?.fencingToken ?? 0;
    if (fencingToken === null) return [`${effect} of task ${taskId} was taken without a token`];
    return fencingToken < before ? [`${effect} of task ${taskId}: token ${fencingToken} after ${before}`] : [];
  });
}
