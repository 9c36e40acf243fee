import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'kysely';
import { claimNextJob, resetRunOwnership, stampRunOwnership } from 'transition-ownership';
import { advance } from './engine.js';
import type { Orchestrator } from './orchestrator.js';

/** What a job runs: a shell command that finds its task and its stage in its environment. */
const command = process.env['JOB_COMMAND'] ?? 'sleep 2';

/** The queue worker: a tick starts the next job, if there is one, and its monitor goes on by itself. */
export function makeWorker(orchestrator: Orchestrator) {
  const monitors = new Set<Promise<void>>();
  return {
    async tick(): Promise<{ readonly started: number | null }> {
      const run = await start(orchestrator);
      if (run === null) return { started: null };
      const monitor = finish(orchestrator, run).finally(() => monitors.delete(monitor));
      monitors.add(monitor);
      return { started: run.jobId };
    },
    /** Waits until no run is watched any more. */
    idle: () => Promise.all(monitors),
  };
}

interface Run {
  readonly jobId: number;
  readonly runId: number;
  readonly taskId: number;
  /** The exit code of its process; `null` if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Claims a job, starts its process, and writes down whose it is. */
async function start({ db, ownership }: Orchestrator): Promise<Run | null> {
  const claimed = await claimNextJob(ownership, {
    // Not the job of a stage that its task has left meanwhile.
    where: (eb) =>
      eb('stage', '=', eb.selectFrom('tasks').select('tasks.stage').whereRef('tasks.id', '=', 'jobs.task_id')),
  });
  const job = claimed.unwrapOr(null);
  if (job === null) return null;

  const { jobId, row } = job;
  const { id: runId } = await db.insertInto('runs').values({ job_id: jobId }).returning('id').executeTakeFirstOrThrow();
  const env = { ...process.env, TASK: String(row.task_id), STAGE: row.stage };
  const child = spawn('sh', ['-c', command], { stdio: 'ignore', env });
  const ended = once(child, 'exit').then(
    () => child.exitCode,
    () => null,
  );
  if (child.pid === undefined) {
    // It could not be started: back to the queue, where a later tick finds it as if it had never been claimed.
    void (await resetRunOwnership(ownership, { jobId, expected: { runId: null, pid: null } }));
    return null;
  }
  const stamped = await stampRunOwnership(ownership, { job, runId, pid: child.pid });
  if (stamped.unwrapOr('superseded') === 'stamped') return { jobId, runId, taskId: row.task_id, ended };
  child.kill(); // the job is another's by now; the child is ours
  return null;
}

/** The monitor of a run: writes down how it ended, moves the task, and only then closes the job. */
async function finish(orchestrator: Orchestrator, { jobId, runId, taskId, ended }: Run): Promise<void> {
  const code = await ended;
  const { db } = orchestrator;
  await db.updateTable('runs').set({ exit_code: code }).where('id', '=', runId).execute();
  if (code === 0) void (await advance(orchestrator, { taskId, actor: 'monitor', runId }));
  await db
    .updateTable('jobs')
    .set({ status: code === 0 ? 'succeeded' : 'failed', finished_at: sql`strftime('%Y-%m-%d %H:%M:%f', 'now')` })
    .where('id', '=', jobId)
    .where('run_id', '=', runId) // what was reaped meanwhile belongs to another run
    .where('status', '=', 'running')
    .execute();
}
