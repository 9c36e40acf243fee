import { sql } from 'kysely';
import { shouldDefer } from 'transition-ownership';
import { orThrow } from '../shared/or-throw.js';
import { advance } from './engine.js';
import type { Orchestrator } from './orchestrator.js';

/** What a tick of the reconciler did. */
export interface Reconciled {
  readonly queued: number;
  readonly skipped: number;
  readonly deferred: readonly number[];
  readonly advanced: readonly { readonly taskId: number; readonly outcome: string }[];
}

/** One tick of the reconciler: whatever a crash left between two steps is taken up again. */
export async function reconcile(orchestrator: Orchestrator): Promise<Reconciled> {
  const { db, ownership } = orchestrator;
  const skipped = await sql`update jobs set status = 'skipped' where status = 'queued'
    and stage <> (select stage from tasks where tasks.id = jobs.task_id)`.execute(db);
  const queued = await sql`insert into jobs (task_id, stage, status)
    select id, stage, 'queued' from tasks where stage <> 'done' on conflict do nothing`.execute(db);

  const ready = await db
    .selectFrom('tasks')
    .innerJoin('jobs', (on) => on.onRef('jobs.task_id', '=', 'tasks.id').onRef('jobs.stage', '=', 'tasks.stage'))
    .innerJoin('runs', 'runs.job_id', 'jobs.id')
    .where('runs.exit_code', '=', 0)
    .select('tasks.id')
    .distinct()
    .execute();
  const deferred: number[] = [];
  const advanced: { taskId: number; outcome: string }[] = [];
  for (const { id: taskId } of ready) {
    const { defer } = orThrow(await shouldDefer(ownership, taskId));
    if (defer) {
      deferred.push(taskId);
      continue;
    }
    const moved = await advance(orchestrator, { taskId, actor: 'reconciler' });
    advanced.push({ taskId, outcome: moved.isOk() ? moved.value.type : moved.error.type });
  }
  return { queued: changes(queued), skipped: changes(skipped), deferred, advanced };
}

const changes = ({ numAffectedRows }: { readonly numAffectedRows?: bigint }): number => Number(numAffectedRows ?? 0n);
