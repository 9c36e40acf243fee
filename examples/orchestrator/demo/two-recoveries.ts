import { Child } from './child.js';
import { addTask, type Crew, passStage, runTo } from './crew.js';

/** The owner dies just before an irreversible step, and two successors recover at the same moment. */
export async function twoRecoveries(crew: Crew): Promise<void> {
  const { story, directory, monitor } = crew;
  const taskId = await addTask(crew, 'docs');
  story.chapter('Two processes recover the same death at the same moment');
  await runTo(crew, 'merge_pr asked');
  await monitor.kill();
  story.done(`${monitor.title} got SIGKILL when it had begun a merge for task ${taskId} that never arrived`);

  const heirs = ['first', 'second'].map((name) => new Child(directory, { name: `${name} heir`, HOLD_AT: 'recovery' }));
  await Promise.all(heirs.map((heir) => heir.stopped('recovery')));
  for (const heir of heirs) heir.go();
  await Promise.all(heirs.map((heir) => heir.ready()));
  story.done(`${heirs.map(({ title }) => title).join(' and ')} began to recover together`);

  for (const heir of heirs) {
    for (const { reason } of heir.events('lease.reclaimed')) story.seen(`${heir.name} reclaimed the lease: ${reason}`);
    for (const { effect, by } of heir.events('effect.applied')) story.seen(`${heir.name} did ${effect} (${by})`);
    for (const { from, to } of heir.events('stage.changed')) story.came(`${heir.name} moved it from ${from} to ${to}`);
  }
  const [heir, spare] = heirs;
  if (heir === undefined || spare === undefined) return;
  await spare.leave();
  crew.monitor = heir;
  await passStage(crew);
}
