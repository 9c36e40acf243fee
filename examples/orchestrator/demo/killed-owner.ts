import { Child } from './child.js';
import { list, type Scene } from './scene.js';

/** The owner dies right after an irreversible step, before it could tell anybody; two processes come to help. */
export async function killedOwner({ directory, story }: Scene, taskId: number): Promise<void> {
  story.chapter('The owner is killed between a deployment and its stage write');
  const owner = await Child.start(directory, { name: 'monitor', HOLD_AT: 'deploy_production applied' });
  owner.advance(taskId);
  await owner.stopOrAnswer();
  await owner.kill();
  story.done(`${owner.title} deployed task ${taskId} and got SIGKILL before it could write the stage`);

  const names = ['monitor, restarted', 'reconciler'];
  const helpers = await Promise.all(names.map((name) => Child.start(directory, { name })));
  story.done(`${list(helpers.map(({ title }) => title))} started at the same moment and asked for the same move`);
  for (const helper of helpers) helper.advance(taskId);
  const answers = await Promise.all(helpers.map((helper) => helper.answer()));

  for (const helper of helpers) {
    for (const { fencingToken, reason } of helper.events('lease.reclaimed')) {
      story.seen(`${helper.name} reclaimed the lease (token ${fencingToken ?? 'none'}): ${reason}`);
    }
  }
  for (const [index, { name }] of helpers.entries()) {
    const answer = answers[index];
    if (answer?.type === 'moved')
      story.came(`${name} found the deployment done and only wrote the stage: ${answer.to}`);
    else story.came(`${name} did nothing: ${answer?.type ?? 'no answer'}`);
  }
  await Promise.all(helpers.map((helper) => helper.leave()));
}
