import { Child } from './child.js';
import type { Story } from './story.js';

/** The processes of the demo. All run the same program; each is asked for its part only. */
export interface Crew {
  readonly directory: string;
  readonly story: Story;
  readonly web: Child;
  readonly reaper: Child;
  readonly reconciler: Child;
  /** Runs the queue and watches its runs: the one that the disasters befall, and its successor. */
  monitor: Child;
}

/** Starts them all. */
export async function assemble(directory: string, story: Story): Promise<Crew> {
  const start = (name: string) => new Child(directory, { name }).ready();
  const [web, reaper, reconciler, monitor] = await Promise.all([
    start('web'),
    start('reaper'),
    start('reconciler'),
    start('monitor'),
  ]);
  return { directory, story, web, reaper, reconciler, monitor };
}

/** A new task, its first job queued. */
export async function addTask({ web, reconciler }: Crew, repo: string): Promise<number> {
  const { body } = await web.post('/tasks', { repo, sha: `${repo}-commit` });
  await reconciler.tick('reconciler');
  return (body as { id: number }).id;
}

/** Runs the job that waits and lets its monitor move the task. */
export async function passStage({ monitor, reconciler }: Crew): Promise<void> {
  await reconciler.tick('reconciler');
  await monitor.tick('worker');
  await monitor.event('stage.changed');
}

/** Runs the job that waits until its monitor stops at a point of the transition. */
export async function runTo({ monitor }: Crew, point: string): Promise<void> {
  monitor.holdAt(point);
  await monitor.tick('worker');
  await monitor.stopped(point);
}
