import { spawn } from 'node:child_process';
import type { Orchestrator } from '../orchestrator.js';
import { addTask, type Crew, passStage } from './crew.js';

/** A queued job carries the pid of a run that is long dead, and that pid is a stranger's by now. */
export async function impossibleJob(crew: Crew, { db }: Orchestrator): Promise<void> {
  const { story, reaper } = crew;
  const taskId = await addTask(crew, 'cli');
  story.chapter("A queued job carries a dead run's pid");
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore' });
  process.on('exit', () => stranger.kill());
  const remains = { run_id: 4711, pid: stranger.pid ?? null, started_at: '2025-01-01 00:00:00.000' };
  await db.updateTable('jobs').set(remains).where('task_id', '=', taskId).execute();
  story.done(`an older version requeued the job of task ${taskId} by its status alone: run 4711, pid ${remains.pid}`);
  story.done('that pid now belongs to a stranger, a `sleep` that has nothing to do with any of this');

  await reaper.tick('reaper');
  for (const { jobId, runId, pid } of reaper.events('queue.sanitized')) {
    story.seen(`the reaper's tick cleared job ${jobId}, and says what it carried: run ${runId}, pid ${pid}`);
  }
  await passStage(crew);
  await passStage(crew);
  const alive = stranger.exitCode === null && stranger.signalCode === null;
  story.came(`the job ran as if nothing had been; the stranger is ${alive ? 'alive' : 'DEAD'}`);
  stranger.kill();
}
