import { Child } from './child.js';
import { addTask, type Crew, passStage, runTo } from './crew.js';

/** The owner dies right after an irreversible step, before it could write down that it was done. */
export async function killedOwner(crew: Crew): Promise<void> {
  const { story, directory, monitor } = crew;
  const taskId = await addTask(crew, 'api');
  story.chapter('The owner is killed between a deployment and its record');
  await passStage(crew);
  await crew.reconciler.tick('reconciler');
  await runTo(crew, 'deploy_production applied');
  await monitor.kill();
  story.done(`${monitor.title} deployed task ${taskId} and got SIGKILL before it could write that down`);

  const heir = await new Child(directory, { name: 'monitor, restarted' }).ready();
  crew.monitor = heir;
  for (const { fencingToken, reason } of heir.events('lease.reclaimed')) {
    story.seen(`${heir.title} reclaimed the lease (token ${fencingToken}): ${reason}`);
  }
  for (const { effect, by } of heir.events('effect.applied')) {
    story.seen(`${effect} was begun and never recorded; asked for it, the cluster says: done (${by})`);
  }
  for (const { to } of heir.events('stage.changed')) story.came(`it deployed nothing and wrote the stage: ${to}`);
}
